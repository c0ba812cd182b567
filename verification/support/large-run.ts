/**
 * Writes the statistics of a long run straight into Redis: the sums of each step, made by the code that makes those of real
 * groups, the statistics of each task and the counters. It has no groups, items or batches.
 */

import type { GroupSummary, RolloutSummary } from '@reasoning-gym-server/contract/batch'
import type { Redis } from 'ioredis'
import { buildStepSums, buildTaskSums } from '../../src/features/rollouts/group-counters.ts'
import { type GroupOutcome, OUTCOME_WINDOW, packOutcome } from '../../src/features/runs/group-outcome.ts'
import { createRunKeys, type RunKeys } from '../../src/features/runs/keys.ts'
import { formatCurriculumState, runRecord } from '../../src/features/runs/run-record.ts'
import type { GroupResult } from '../../src/grading/group.ts'
import type { StatisticSums } from '../../src/grading/group-statistics.ts'
import type { RedisKeys } from '../../src/platform/redis/keys.ts'

interface LargeRunParams {
  run: string
  tasks: string[]
  steps: number
  groupsPerStep: number
  groupSize: number
}

const STEPS_PER_CALL = 100
const STEP_MS = 30_000
const LENGTH_P_TRUNCATED = 0.02

/** Writes into a run that exists. Returns the sums of each step. */
export async function writeLargeRun(
  redis: Redis,
  keys: RedisKeys,
  { run, tasks, steps, groupsPerStep, groupSize }: LargeRunParams,
): Promise<StatisticSums[]> {
  const random = createRandom(26)
  const runKeys = createRunKeys(keys)
  const epoch = Number(await redis.hget(runKeys.run(run), 'epoch'))
  const to = runKeys.forRun(run, epoch)
  const [bySteps, byTask]: [StatisticSums[], StatisticSums] = [[], {}]
  const now = Date.now()
  for (let first = 0; first < steps; first += STEPS_PER_CALL) {
    const pipeline = redis.pipeline()
    for (let step = first; step < Math.min(steps, first + STEPS_PER_CALL); step++) {
      const sums: StatisticSums = { lag_count: groupsPerStep, lag_sum: Math.floor(groupsPerStep / 4) }
      for (let k = 0; k < groupsPerStep; k++) {
        const task = tasks[(step * groupsPerStep + k) % tasks.length] ?? ''
        const difficulty = (step / steps) * random()
        const { summary, result } = makeGroup(task, step, { skill: 0.3 + (0.5 * step) / steps, groupSize, random })
        addTo(sums, buildStepSums(summary, result, difficulty))
        addTo(byTask, buildTaskSums(task, result, summary))
      }
      bySteps.push(sums)
      pipeline.hset(to.metricSums(step), sums).zadd(to.metricSteps, step, String(step))
      pipeline.lpush(to.curriculumHistory, formatPoint(step, steps, tasks, now))
    }
    await pipeline.exec()
  }
  await writeTasks(redis, to, { tasks, sums: byTask, now })
  const groups = steps * groupsPerStep
  const counters = { groups, completed: groups, scored_groups: groups, rollouts: groups * groupSize, batches: steps }
  const times = { last_accepted_at: now, last_scored_at: now, last_signal_at: now, last_batch_at: now }
  await redis.hset(to.run, runRecord.format({ ...counters, ...times, step: steps - 1, last_batch_request_at: now }))
  return bySteps
}

/** The windows are full, so that the diagnosis of each task has all that it can have. */
async function writeTasks(
  redis: Redis,
  to: RunKeys,
  { tasks, sums, now }: { tasks: string[]; sums: StatisticSums; now: number },
): Promise<void> {
  await redis.hset(to.taskSums, sums)
  const pipeline = redis.pipeline()
  for (const [k, task] of tasks.entries()) {
    const difficulty = k / tasks.length
    pipeline.hset(to.taskSums, `${task}:last_completed_at`, now)
    pipeline.hset(to.curriculum, task, formatCurriculumState({ level: difficulty, accuracy: 0.7, scores: [0.5, 1] }))
    pipeline.hset(to.recentAccuracies, task, '0.5,0.75,1,0.5')
    pipeline.hset(to.recentOutcomes, task, OUTCOME_WINDOW)
    for (let place = 0; place < OUTCOME_WINDOW; place++)
      pipeline.hset(to.recentOutcomes, `${task}:${place}`, packOutcome(makeOutcome(now, place)))
  }
  await pipeline.exec()
}

function makeGroup(
  task: string,
  step: number,
  { skill, groupSize, random }: { skill: number; groupSize: number; random: () => number },
): { summary: GroupSummary; result: GroupResult } {
  const rollouts = Array.from({ length: groupSize }, (): RolloutSummary => {
    const score = random() < skill ? 1 : 0
    const length = Math.round(200 + 1500 * random() ** 2)
    const marks = random() < LENGTH_P_TRUNCATED ? ['t'] : []
    return [score, score, length, length, score === 0 && random() < 0.1 ? [...marks, 'no_answer'] : marks]
  })
  const correct = rollouts.filter(([, score]) => score === 1).length
  const signal = correct > 0 && correct < groupSize
  return {
    summary: { id: `group-${step}`, task, scored: groupSize, policy_version: step, signal, rollouts },
    result: {
      status: 'scored',
      verdicts: [],
      destination: 'buffered',
      signal,
      voters: groupSize,
      mean_score: correct / groupSize,
    },
  }
}

function makeOutcome(now: number, place: number): GroupOutcome {
  const score = (place % 5) / 4
  return {
    completedAt: now - (OUTCOME_WINDOW - place) * STEP_MS,
    kind: 'signal',
    question: place + 1,
    scored: 8,
    answers: 8,
    distinct: 3,
    entropy: 1.3,
    counts: [{ hash: place, count: 5 }],
    shown: String(place),
    meanScore: score,
    guessFloor: 0.1,
    hackGap: { count: 8, sum: 0 },
    permuted: { count: 8, sum: 0 },
  }
}

function formatPoint(step: number, steps: number, tasks: string[], now: number): string {
  const [task, difficulty] = [tasks[step % tasks.length] ?? '', step / steps]
  const time = new Date(now - (steps - step) * STEP_MS).toISOString()
  return JSON.stringify({ time, step, task, score: 0.7, difficulty, accuracy: 0.7 })
}

function addTo(sums: StatisticSums, amounts: StatisticSums): void {
  for (const [field, amount] of Object.entries(amounts)) sums[field] = (sums[field] ?? 0) + amount
}

/** The same numbers in every run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}
