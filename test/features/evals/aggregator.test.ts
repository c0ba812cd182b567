import { setTimeout as sleep } from 'node:timers/promises'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { expect, it } from 'vitest'
import { JobAggregator } from '../../../src/features/evals/aggregator.ts'
import { ListedItems } from '../../../src/features/evals/job-items.ts'
import { createEvalKind } from '../../../src/features/evals/kinds/eval.ts'
import { computeSuiteHash } from '../../../src/features/evals/suites.ts'
import { hashQuestion } from '../../../src/features/items/eval-questions.ts'

const ID = 'eval-0123456789ab'
const made = { task: 'gcd', config: {}, difficulty: null, engine: '0.1.25' }
const ids = Array.from({ length: 200 }, (_, index) => encodeItemId({ ...made, seed: 2 ** 30, index }))

/** Ends an eval of a custom suite without any completion. Returns the suite's hash and how its items were created. */
async function finish(make: (id: string) => Promise<void>) {
  const suite = { name: 'custom', version: null, sha256: null, items: ids.length }
  const spec = {
    kind: 'eval',
    model: null,
    suite,
    samples_per_item: 1,
    temperature: null,
    grading_rules: { scoring: 'upstream' },
    prompt: {},
  }
  const times = { created_at: 0, started_at: null, ended_at: null }
  let hash: unknown
  const generationJobs = {
    get: async () => ({
      id: ID,
      ...times,
      status: 'running',
      spec,
      total: ids.length,
      done: 0,
      failed: 0,
      failures: [],
      score_sum: 0,
    }),
    async end(_id: string, { result }: { result: { repeat: { suite: { sha256: unknown } } } }) {
      hash = result.repeat.suite.sha256
    },
  }
  const samples = {
    listItems: async () => ids,
    listVerdicts: async (_schema: unknown, _id: string, from: number, to: number) => Array(to - from).fill(null),
  }
  const seen = { started: 0, inFlight: 0, maxInFlight: 0 }
  const suites = {
    async getOrCreateItem({ id }: { id: string }) {
      seen.started++
      seen.maxInFlight = Math.max(seen.maxInFlight, ++seen.inFlight)
      await make(id)
      seen.inFlight--
      return { question: `question of ${id}` }
    },
  }
  const kindDeps = {
    openItems: (job: ConstructorParameters<typeof ListedItems>[0]) =>
      new ListedItems(job, samples as unknown as ConstructorParameters<typeof ListedItems>[1]),
    samples,
    suites,
    tasks: { require: () => ({ category: 'arithmetic' }) },
    cards: { findItemFloor: () => undefined },
  }
  const kinds = { eval: createEvalKind(kindDeps as unknown as Parameters<typeof createEvalKind>[0]) }
  const deps = { generationJobs, kinds }
  const aggregator = new JobAggregator(deps as unknown as ConstructorParameters<typeof JobAggregator>[0])
  await aggregator.finalize(ID, 'done')
  return { hash, seen }
}

it('the items of a custom suite are created concurrently for its hash', async () => {
  const { hash, seen } = await finish(() => sleep(5))
  expect(hash).toBe(computeSuiteHash(ids.map((id) => ({ id, questionHash: hashQuestion(`question of ${id}`) }))))
  expect(seen.maxInFlight).toBe(32)
})

it('other calls get their turn between the items of a result, of which each may take 20 ms', async () => {
  let turns = 0
  let next = setImmediate(function count() {
    turns++
    next = setImmediate(count)
  })
  await finish(async () => {})
  clearImmediate(next)
  expect(turns).toBeGreaterThanOrEqual(ids.length)
})

it('an eval ends without the hash if the items take too long, and creates no more of them', async () => {
  const gate = Promise.withResolvers<void>()
  const { hash, seen } = await finish(() => gate.promise)
  expect(hash).toBe(null)
  gate.resolve()
  await sleep(50)
  expect(seen).toMatchObject({ started: 32, inFlight: 0 })
})

it('an item that cannot be created leaves the hash out, and no more are created', async () => {
  const { hash, seen } = await finish(async (id) => {
    if (id === ids[3]) throw new Error('cannot be created')
    await sleep(5)
  })
  expect(hash).toBe(null)
  await sleep(50)
  expect(seen.started).toBeLessThanOrEqual(32)
})
