import { type ErrorCode, ServiceError } from '@reasoning-gym-server/contract/errors'
import { expect, it } from 'vitest'
import { createGenerateSamplesProcessor } from '../../../src/features/evals/generate-samples.ts'
import { ModelClientClosedError } from '../../../src/features/evals/models/model-errors.ts'

const ID = 'eval-0123456789ab'

/** A slot of an eval whose samples fail with the given codes or errors before they succeed, and the status the eval ended with. */
function openSlot(total: number, failures: (sample: number) => (ErrorCode | Error)[]) {
  const left = Array.from({ length: total }, (_, k) => failures(k))
  const ends: string[] = []
  let at = 0
  const generationJobs = {
    get: async () => ({ id: ID, spec: { kind: 'eval' }, done: at, total }),
    getStatus: async () => 'running',
  }
  const samples = {
    claim: async () => (at < total ? { kind: 'sample', sample: at } : { kind: 'none' }),
  }
  const evalSampleProcessor = {
    async process(_job: unknown, sample: number) {
      const failure = left[sample]?.shift()
      if (failure) throw failure instanceof Error ? failure : new ServiceError(failure, 'not now')
      at++
    },
  }
  const aggregator = {
    finalize: async (_id: string, status: string) => void ends.push(status),
    finalizeWhenOver: async () => void ends.push('over'),
  }
  const process = createGenerateSamplesProcessor({
    generationJobs,
    samples,
    evalSampleProcessor,
    aggregator,
  } as unknown as Parameters<typeof createGenerateSamplesProcessor>[0])
  const turn = () => process({ job: ID, slot: 0 }, { signal: new AbortController().signal })
  return { ends, turn }
}

async function untilEnded({ ends, turn }: ReturnType<typeof openSlot>): Promise<string[]> {
  for (let k = 0; k < 100 && ends.length === 0; k++) await turn()
  return ends
}

it('items that are slow now and then do not fail an eval; one that is never created does', async () => {
  expect(await untilEnded(openSlot(20, () => ['make_timeout', 'make_timeout', 'make_timeout']))).toEqual(['over'])
  expect(await untilEnded(openSlot(20, (k) => (k === 7 ? Array(4).fill('make_timeout') : [])))).toEqual(['failed'])
})

it('only slow items count toward the attempts of an item', async () => {
  const eight = openSlot(1, () => [
    ...Array(8).fill('redis_unavailable'),
    'make_timeout',
    'make_timeout',
    'make_timeout',
  ])
  for (let k = 0; k < 8; k++) await expect(eight.turn()).rejects.toMatchObject({ code: 'redis_unavailable' })
  expect(await untilEnded(eight)).toEqual(['over'])
  expect(await untilEnded(openSlot(1, () => Array(9).fill('engine_unavailable')))).toEqual(['over'])
})

it('a sample is generated again in another turn if the client of the model was closed', async () => {
  const slot = openSlot(2, (k) => (k === 1 ? [new ModelClientClosedError()] : []))
  expect(await slot.turn()).toEqual({ delayMs: 0 })
  expect(slot.ends).toEqual([])
  expect(await untilEnded(slot)).toEqual(['over'])
})
