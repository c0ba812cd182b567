import { expect, it } from 'vitest'
import { batchCalls } from '../../src/platform/batch-calls.ts'

const createBatches = (failing?: { call: number; name: string }) => {
  const batches: number[][] = []
  const call = batchCalls<number, number>(
    async (calls) => {
      batches.push(calls)
      await new Promise(setImmediate)
      if (calls.includes(failing?.call ?? -1)) throw Object.assign(new Error('failed'), { name: failing?.name })
      return calls.map((n) => n * 2)
    },
    { keyOf: (n) => (n < 100 ? 'low' : 'high'), maxCalls: 3 },
  )
  return { batches, call }
}

it('batches the calls of one key that come while a batch is under way, in their order', async () => {
  const { batches, call } = createBatches()
  expect(await Promise.all([1, 2, 3, 100, 4, 5].map(call))).toEqual([2, 4, 6, 200, 8, 10])
  expect(batches).toEqual([[1], [100], [2, 3, 4], [5]])
  expect(await call(6)).toBe(12)
  expect(batches.at(-1)).toEqual([6])
})

it('fails only the call that fails alone, too, unless Redis does not reply', async () => {
  const { batches, call } = createBatches({ call: 3, name: 'ReplyError' })
  const results = await Promise.allSettled([1, 2, 3, 4].map(call))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(batches).toEqual([[1], [2, 3, 4], [2], [3], [4]])
  const outage = createBatches({ call: 3, name: 'Error' })
  await Promise.allSettled([1, 2, 3, 4].map(outage.call))
  expect(outage.batches).toEqual([[1], [2, 3, 4]])
})
