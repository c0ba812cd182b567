import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { encodeItemId } from '../../../src/contract/item-id.ts'
import { EvalAggregator } from '../../../src/features/evals/eval-aggregator.ts'
import { computeSuiteHash, hashQuestion } from '../../../src/features/evals/suites.ts'

const made = { task: 'gcd', config: {}, difficulty: null, engine: '0.1.25' }
const ids = Array.from({ length: 200 }, (_, index) => encodeItemId({ ...made, seed: 2 ** 30, index }))

/** Ends an eval on a suite of one's own, of which nothing came; and how its items were made meanwhile. */
async function finish(make: (id: string) => Promise<void>) {
  const suite = { name: 'custom', version: null, sha256: null, items: ids.length }
  const spec = { kind: 'eval', model: null, suite, samples_per_item: 1, temperature: null, rules: {}, prompt: {} }
  let hash: unknown
  const generationJobs = {
    get: async () => ({ status: 'running', spec, total: ids.length, created: 0, started: null, done: 0, failed: 0 }),
    async end(_id: string, { result }: { result: { repeat: { suite: { sha256: unknown } } } }) {
      hash = result.repeat.suite.sha256
    },
  }
  const samples = {
    listItems: async () => ids,
    listVerdicts: async (_id: string, from: number, to: number) => Array(to - from).fill(null),
  }
  const seen = { begun: 0, inHand: 0, most: 0 }
  const items = {
    async getOrCreate({ id }: { id: string }) {
      seen.begun++
      seen.most = Math.max(seen.most, ++seen.inHand)
      await make(id)
      seen.inHand--
      return { question: `question of ${id}` }
    },
  }
  const parts = { generationJobs, samples, items, tasks: { require: () => ({ category: 'arithmetic' }) } }
  const results = new EvalAggregator(parts as unknown as ConstructorParameters<typeof EvalAggregator>[0])
  await results.finalize('eval-0123456789ab', 'done')
  return { hash, seen }
}

it('the items of a suite of one’s own are made many at once for its hash', async () => {
  const { hash, seen } = await finish(() => sleep(5))
  expect(hash).toBe(computeSuiteHash(ids.map((id) => ({ id, question: hashQuestion(`question of ${id}`) }))))
  expect(seen.most).toBe(32)
})

it('an eval ends without the hash where the items take too long, and makes no more of them', async () => {
  const gate = Promise.withResolvers<void>()
  const { hash, seen } = await finish(() => gate.promise)
  expect(hash).toBe(null)
  gate.resolve()
  await sleep(50)
  expect(seen).toMatchObject({ begun: 32, inHand: 0 })
})

it('an item that cannot be made leaves the hash out, and no more are made', async () => {
  const { hash, seen } = await finish(async (id) => {
    if (id === ids[3]) throw new Error('cannot be made')
    await sleep(5)
  })
  expect(hash).toBe(null)
  await sleep(50)
  expect(seen.begun).toBeLessThanOrEqual(32)
})
