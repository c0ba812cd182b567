/** Computes the frontier of a model, per task and on average. */
import type { FrontierResult } from '@reasoning-gym-server/contract/eval'
import { meanOrNull } from '../../../grading/statistics.ts'
import type { SampledItem } from '../eval-result.ts'
import type { FrontierPlan } from '../generation-job-spec.ts'
import { computePosterior, type FrontierAnswer, summarizePosterior } from '../statistics/frontier-posterior.ts'
import { Z_90 } from '../statistics/normal.ts'

/** Builds the result. `items` has the chosen items in sample order. */
export function buildFrontierResult(plan: FrontierPlan, items: readonly SampledItem[]): FrontierResult {
  const byTask = Map.groupBy(items, ({ task }) => task)
  const places = plan.tasks.flatMap((task) => {
    const answers = (byTask.get(task) ?? []).flatMap(toAnswer)
    return answers.length === 0
      ? []
      : [{ task, items: answers.length, ...summarizePosterior(computePosterior(answers)) }]
  })
  const mean = meanOrNull(places.map(({ difficulty }) => difficulty))
  const stderr =
    Math.sqrt(places.reduce((sum, { standardDeviation }) => sum + standardDeviation ** 2, 0)) / places.length
  return {
    difficulty_at_half: mean,
    interval_90: mean === null ? null : [Math.max(0, mean - Z_90 * stderr), Math.min(1, mean + Z_90 * stderr)],
    tasks: Object.fromEntries(
      places.map(({ task, difficulty, interval_90, slope, beyond, items: used }) => [
        task,
        { difficulty_at_half: difficulty, interval_90, slope, beyond, items: used },
      ]),
    ),
    left_out: plan.left_out,
  }
}

function toAnswer({ difficulty, guessFloor, verdicts }: SampledItem): FrontierAnswer[] {
  const score = verdicts[0]?.score ?? null
  return score === null ? [] : [{ score, rung: { difficulty: difficulty ?? 0, floor: guessFloor ?? 0 } }]
}
