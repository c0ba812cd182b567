import { expect, it } from 'vitest'
import { createPrefetchItemsProcessor } from '../../../src/features/runs/jobs.ts'

const RUN = { epoch: 1, counters: {} }

/** Positions that a job tries when every so manyth item can be made. */
async function tried(goodEvery: number): Promise<number> {
  let count = 0
  const prefetcher = {
    start: async (_run: object, _scope: object, most: number) =>
      Array.from({ length: Math.min(most, 200 - count) }, () => Promise.resolve(++count % goodEvery === 0)),
  }
  const parts = { runs: { get: async () => RUN }, prefetcher } as unknown as Parameters<
    typeof createPrefetchItemsProcessor
  >[0]
  await createPrefetchItemsProcessor(parts)({ run: 'r', epoch: 1 }, { signal: new AbortController().signal })
  return count
}

it('gives up where no item can be made, and goes on where some can', async () => {
  expect(await tried(Number.POSITIVE_INFINITY)).toBeLessThan(64)
  expect(await tried(10)).toBe(200)
})
