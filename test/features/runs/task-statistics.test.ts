import { randomUUID } from 'node:crypto'
import { afterAll, expect, inject, it } from 'vitest'
import { OUTCOME_WINDOW, packOutcome } from '../../../src/features/runs/diagnosis/group-outcome.ts'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { addSums, packSums, unpackSums } from '../../../src/features/runs/sums.ts'
import { TaskStatistics } from '../../../src/features/runs/task-statistics.ts'
import type { StoredRun } from '../../../src/features/runs/types.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { deleteKeys } from '../../world.ts'

const prefix = `t${randomUUID().slice(0, 8)}`
const keys = createRedisKeys(prefix)
const redis = connectForWorkers({ url: inject('redisUrl'), prefix: '' })
afterAll(async () => {
  await deleteKeys(redis, prefix)
  redis.disconnect()
})

const NONE = { count: 0, sum: 0 }
const outcome = (question: number) =>
  packOutcome({
    completedAt: question,
    kind: 'signal',
    question,
    scored: 2,
    answers: 2,
    distinct: 2,
    entropy: 1,
    counts: [],
    shown: '',
    meanScore: 0.5,
    guessFloor: null,
    meanLength: null,
    hackGap: NONE,
    permuted: NONE,
  })

/** A run whose groups are completed as scripts/complete-groups.lua does it. */
function createRun(name: string) {
  const counters = { completed: 0 }
  const run = { name, incarnation: name, epoch: 1, counters } as StoredRun // as much as is read of it
  const { recentOutcomes, taskSums } = createRunKeys(keys).forRun(name, 1)
  const complete = async (task: string, sums: Record<string, number> = {}) => {
    counters.completed++
    const count = await redis.hincrby(recentOutcomes, task, 1)
    await redis.hset(recentOutcomes, `${task}:${count % OUTCOME_WINDOW}`, outcome(counters.completed))
    const packed = await redis.hgetBuffer(taskSums, task)
    const total = packed ? unpackSums(packed) : {}
    addSums(total, { groups: 1, ...sums })
    await redis.hset(taskSums, task, packSums(total))
  }
  return { run, complete }
}

async function readQuestions(statistics: TaskStatistics, run: StoredRun): Promise<Record<string, number[]>> {
  const windows = Object.entries(await statistics.readRecentOutcomes(run))
  return Object.fromEntries(windows.map(([task, list]) => [task, list.map(({ question }) => question)]))
}

it('a process that has read before reads what one that has not read reads', async () => {
  const { run, complete } = createRun('again')
  const statistics = new TaskStatistics(redis, keys)
  const compare = async () => {
    const fresh = new TaskStatistics(redis, keys)
    expect(await readQuestions(statistics, run)).toEqual(await readQuestions(fresh, run))
    expect(await statistics.readSums(run)).toEqual(await fresh.readSums(run))
  }
  await compare() // nothing yet
  await complete('gcd', { rollouts: 2 })
  await compare()
  await complete('gcd', { rollouts: 2 })
  await complete('lcm', { signal: 1 })
  await compare() // another task
  await complete('gcd', { 'length_buckets:3': 1 })
  await compare() // another field
  for (let k = 0; k < OUTCOME_WINDOW - 1; k++) await complete('gcd', { rollouts: 2 })
  await compare() // the ring is full
  for (let k = 0; k < 3; k++) await complete('gcd', { rollouts: 2 })
  await compare()
  for (let k = 0; k < OUTCOME_WINDOW + 3; k++) await complete('lcm')
  await compare() // all of them are new
  expect((await readQuestions(statistics, run)).gcd).toHaveLength(OUTCOME_WINDOW)
})

it('until a group is completed, it reads nothing again, and the lists stay the same ones', async () => {
  const { run, complete } = createRun('same')
  const statistics = new TaskStatistics(redis, keys)
  for (const task of ['gcd', 'lcm']) await complete(task)
  const before = await statistics.readRecentOutcomes(run)
  expect(await statistics.readRecentOutcomes(run)).toBe(before)
  await complete('gcd')
  const after = await statistics.readRecentOutcomes(run)
  expect(after.lcm).toBe(before.lcm)
  expect(after.gcd).not.toBe(before.gcd)
})
