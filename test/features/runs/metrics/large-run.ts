/** Writes the sums of each step of a long run straight into Redis, made by the code that makes those of real groups. */
import type { RolloutSummary } from '@reasoning-gym-server/contract/batch'
import type { Redis } from 'ioredis'
import { buildGroupSums } from '../../../../src/features/rollouts/group-counters.ts'
import { createRunKeys, runRecord } from '../../../../src/features/runs/records.ts'
import { packSums } from '../../../../src/features/runs/sums.ts'
import type { StatisticSums } from '../../../../src/grading/group-statistics.ts'
import type { RedisKeys } from '../../../../src/platform/redis/keys.ts'
import { SeededRandom } from '../../../../verification/support/seeded-random.ts'

interface LargeRunParams {
  run: string
  tasks: string[]
  steps: number
  groupsPerStep: number
  groupSize: number
}

/** Writes into a run that exists, which then has no groups, items or batches. Returns the sums of each step. */
export async function writeLargeRun(
  redis: Redis,
  keys: RedisKeys,
  { run, tasks, steps, groupsPerStep, groupSize }: LargeRunParams,
): Promise<StatisticSums[]> {
  const random = new SeededRandom(26)
  const runKeys = createRunKeys(keys)
  const to = runKeys.forRun(run, Number(await redis.hget(runKeys.run(run), 'epoch')))
  const pipeline = redis.pipeline()
  const bySteps = Array.from({ length: steps }, (_, step) => {
    const sums: StatisticSums = { lag_count: groupsPerStep, lag_sum: Math.floor(groupsPerStep / 4) }
    for (let k = 0; k < groupsPerStep; k++) {
      const task = tasks[(step * groupsPerStep + k) % tasks.length] ?? ''
      const skill = 0.3 + (0.5 * step) / steps
      const rollouts = Array.from({ length: groupSize }, () => makeRollout(random, skill))
      for (const [field, amount] of Object.entries(sumGroup(task, step, rollouts, (step / steps) * random.next())))
        sums[field] = (sums[field] ?? 0) + amount
    }
    pipeline.hset(to.stepSums, step, packSums(sums)).zadd(to.metricSteps, step, String(step))
    return sums
  })
  pipeline.hset(to.run, runRecord.format({ step: steps - 1 }))
  await pipeline.exec()
  return bySteps
}

function makeRollout(random: SeededRandom, skill: number): RolloutSummary {
  const score = random.chance(skill) ? 1 : 0
  const length = Math.round(200 + 1500 * random.next() ** 2)
  return [score, score, length, length, score === 0 && random.chance(0.1) ? ['no_answer'] : []]
}

function sumGroup(task: string, step: number, rollouts: RolloutSummary[], difficulty: number): StatisticSums {
  const correct = rollouts.filter(([, score]) => score === 1).length
  const signal = correct > 0 && correct < rollouts.length
  const scored = rollouts.length
  return buildGroupSums(
    { id: `group-${step}`, task, scored, policy_version: step, signal, rollouts },
    {
      status: 'scored',
      verdicts: [],
      destination: 'buffered',
      signal,
      voters: scored,
      mean_score: correct / scored,
    },
    difficulty,
  )
}
