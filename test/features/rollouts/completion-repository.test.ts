import { randomUUID } from 'node:crypto'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type CompleteGroupParams, CompletionRepository } from '../../../src/features/rollouts/completion-repository.ts'
import { buildGroupSummary } from '../../../src/features/rollouts/group-counters.ts'
import { packGroup, unpackMetadata } from '../../../src/features/rollouts/group-payload.ts'
import type { GroupRef } from '../../../src/features/rollouts/records.ts'
import { GroupRepository } from '../../../src/features/rollouts/repository.ts'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { RunRepository } from '../../../src/features/runs/repository.ts'
import { unpackSums } from '../../../src/features/runs/sums.ts'
import type { GroupResult } from '../../../src/grading/group-advantages.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys, type RedisKeys } from '../../../src/platform/redis/keys.ts'
import { NO_REPLICATION } from '../../../src/platform/redis/replication.ts'

const ITEM_ID = encodeItemId({ task: 'chain_sum', seed: 1, index: 0, engine: '1', difficulty: null, config: {} })

let redis: Redis
let keys: RedisKeys
let groups: GroupRepository
let completions: CompletionRepository
let runs: RunRepository
beforeAll(async () => {
  redis = connectForWorkers({ url: inject('redisUrl'), prefix: '' })
  keys = createRedisKeys(`t${randomUUID().slice(0, 8)}`)
  const deps = { redis, keys, replication: NO_REPLICATION }
  groups = new GroupRepository(deps)
  completions = new CompletionRepository(deps)
  runs = new RunRepository(redis, keys)
})
afterAll(() => redis.disconnect())

/** A group of a new run that waits to be scored, and its completion under the run's first settings. */
async function waiting(run: string, group = 'g'): Promise<{ place: GroupRef; completion: CompleteGroupParams }> {
  if (!(await runs.get(run))) await runs.updateSettings(run, undefined, {}, { restart: false, remake: false })
  const { epoch = 0, revision = 0 } = (await runs.get(run)) ?? {}
  const place = { run, epoch, group }
  const packed = packGroup({ item_id: ITEM_ID, rollouts: [{ completion: 'x' }] }, true)
  const bounds = { revision, rollouts: 1, forBuffer: true, maxGroups: 100, serverFull: false, lease: undefined }
  expect(await groups.accept(place, packed, bounds)).toBe('new')
  const verdict = { reward: 1, score: 1, answer: '', fault: null, penalty: 0, advantage: 0 } as const
  const verdicts = [{ status: 'scored', ...verdict } as const]
  const result = { status: 'scored', verdicts, destination: 'buffered' } as const
  const facts = buildGroupSummary(group, 'chain_sum', unpackMetadata(packed.metadata), result)
  const about = {
    task: 'chain_sum',
    retriable: false,
    maxRetainedGroups: 10,
    curriculumInput: undefined,
    dump: undefined,
    outcome: undefined,
  }
  return { place, completion: { revision, result, summary: facts, ...about } }
}

describe('a completion', () => {
  it('by settings that have changed does nothing but say so', async () => {
    const { place, completion } = await waiting('changed')
    const before = await runs.get('changed')
    await runs.updateSettings('changed', before, { extraction: 'last_tag' }, { restart: false, remake: false })
    expect(await completions.complete(place, completion)).toBe('run_changed')
    expect(await groups.get(place)).toMatchObject({ status: 'queued' })
    expect((await runs.get('changed'))?.counters).not.toHaveProperty('completed')
    expect(await completions.complete(place, { ...completion, revision: completion.revision + 1 })).toMatchObject({})
    expect(await groups.get(place)).toMatchObject({ status: 'scored' })
  })

  it('counts once among many at the same time, and a damaged counter of one task fails no other', async () => {
    const ids = Array.from({ length: 40 }, (_, k) => `g${k}`)
    const all = await Promise.all(ids.map((id) => waiting('many', id)))
    const { epoch = 0 } = (await runs.get('many')) ?? {}
    const { taskSums, buffer, pendingGroups, backlog } = createRunKeys(keys).forRun('many', epoch)
    await redis.hset(taskSums, 'odd', 'x')
    const complete = ({ place, completion }: (typeof all)[number], task = 'chain_sum') =>
      completions.complete(place, { ...completion, task, summary: { ...completion.summary, task } })
    const done = await Promise.allSettled(
      [...all, ...all].map((one, k) => complete(one, k % 40 === 20 ? 'odd' : undefined)),
    )
    expect(done.filter(({ status }) => status === 'rejected')).toHaveLength(2)
    const completed = done.flatMap((one) => (one.status === 'fulfilled' && one.value !== undefined ? [one.value] : []))
    expect(completed).toHaveLength(39)
    const readCounts = async () => ({
      completed: (await runs.get('many'))?.counters.completed,
      summed: unpackSums((await redis.hgetBuffer(taskSums, 'chain_sum')) ?? expect.fail()).groups,
      buffered: await redis.zcard(buffer),
      pending: await redis.zrange(pendingGroups, '0', '-1'),
      queued: await redis.hmget(backlog, 'queued_groups', 'buffered_rollouts'),
    })
    expect(await readCounts()).toEqual({
      completed: 39,
      summed: 39,
      buffered: 39,
      pending: ['g20'],
      queued: ['1', '39'],
    })
    await redis.hdel(taskSums, 'odd')
    expect(await complete(all[20] ?? all[0] ?? expect.fail(), 'odd')).toBeDefined()
    expect(await readCounts()).toMatchObject({ completed: 40, buffered: 40, pending: [] })
  })

  it('of a group from before a restart does nothing', async () => {
    const { place, completion } = await waiting('restarted')
    await redis.hset(createRunKeys(keys).run('restarted'), 'epoch', place.epoch + 1)
    expect(await completions.complete(place, completion)).toBeUndefined()
    expect(await groups.get(place)).toMatchObject({ status: 'queued' })
    expect((await runs.get('restarted'))?.counters).not.toHaveProperty('completed')
  })

  it('of a group that failed as a whole leaves no rewards, rather than fewer than there are rollouts', async () => {
    const { place, completion } = await waiting('no-rewards')
    const result: GroupResult = { status: 'failed', verdicts: [], destination: null, code: 'internal', detail: '' }
    await completions.complete(place, { ...completion, result, retriable: true })
    expect(await groups.get(place)).toMatchObject({ status: 'failed', rewards: undefined })
    const { taskSums, stepSums } = createRunKeys(keys).forRun('no-rewards', place.epoch)
    expect(await redis.exists(taskSums, stepSums)).toBe(0) // it may be scored yet
  })

  it('teaches the curriculum only what comes of items that were handed out', async () => {
    const feed = { score: 1, difficulty: 0.3, starting_level: 0.3, target_accuracy: 0.7, low: 0, high: 1 }
    for (const [run, position, teaches] of [
      ['handed-out', 4, true],
      ['not-yet', 5, false],
    ] as const) {
      const { place, completion } = await waiting(run)
      await redis.hset(createRunKeys(keys).run(run), 'position', 5)
      const done = await completions.complete(place, { ...completion, curriculumInput: { ...feed, position } })
      expect(typeof done === 'object' && done.levelChange !== undefined).toBe(teaches)
    }
  })
})
