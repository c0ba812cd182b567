import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { factsOf } from '../../src/store/facts.ts'
import { type Completion, type GroupPlace, Groups } from '../../src/store/groups.ts'
import { type Keys, keysUnder } from '../../src/store/keys.ts'
import { pack, unpackAbout } from '../../src/store/payload.ts'
import { connectForWork } from '../../src/store/redis.ts'
import { Runs } from '../../src/store/runs.ts'

let redis: Redis
let keys: Keys
let groups: Groups
let runs: Runs
beforeAll(async () => {
  redis = connectForWork({ url: inject('redisUrl'), prefix: '' })
  keys = keysUnder(`t${randomUUID().slice(0, 8)}`)
  groups = new Groups(redis, keys)
  runs = new Runs(redis, keys)
})
afterAll(() => redis.disconnect())

/** A group of a new run that waits to be scored, and its completion under the run's first settings. */
async function waiting(run: string): Promise<{ place: GroupPlace; completion: Completion }> {
  await runs.change(run, undefined, {}, { restart: false, remake: false })
  const { epoch = 0, revision = 0 } = (await runs.find(run)) ?? {}
  const place = { run, epoch, group: 'g' }
  const packed = pack({ item_id: 'x', rollouts: [{ completion: 'x' }] }, true)
  const bounds = { revision, rollouts: 1, wants: true, most: 10, full: false, lease: undefined }
  expect(await groups.accept(place, packed, bounds)).toBe('new')
  const verdict = { reward: 1, score: 1, answer: '', fault: null, penalty: 0, advantage: 0 } as const
  const verdicts = [{ status: 'scored', ...verdict } as const]
  const result = { status: 'scored', verdicts, destination: 'buffered' } as const
  const facts = factsOf('g', 'chain_sum', unpackAbout(packed.about), result)
  const about = { task: 'chain_sum', retriable: false, keep: 10, feed: undefined, dump: undefined }
  return { place, completion: { revision, result, facts, ...about } }
}

describe('a completion', () => {
  it('by settings that have changed does nothing but say so', async () => {
    const { place, completion } = await waiting('changed')
    const before = await runs.find('changed')
    await runs.change('changed', before, { extraction: 'last_tag' }, { restart: false, remake: false })
    expect(await groups.complete(place, completion)).toBe('changed')
    expect(await groups.find(place)).toMatchObject({ status: 'queued' })
    expect((await runs.find('changed'))?.counters).not.toHaveProperty('completed')
    expect(await groups.complete(place, { ...completion, revision: completion.revision + 1 })).toMatchObject({})
    expect(await groups.find(place)).toMatchObject({ status: 'scored' })
  })

  it('teaches the curriculum only what comes of items that were handed out', async () => {
    const feed = { score: 1, difficulty: 0.3, target: 0.7, low: 0, high: 1 }
    for (const [run, position, teaches] of [
      ['handed-out', 4, true],
      ['not-yet', 5, false],
    ] as const) {
      const { place, completion } = await waiting(run)
      await redis.hset(keys.run(run), 'position', 5)
      const done = await groups.complete(place, { ...completion, feed: { ...feed, position } })
      expect(typeof done === 'object' && done.level !== undefined).toBe(teaches)
    }
  })
})
