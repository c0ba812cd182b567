/** Extracts what an eval measured on the ladders of its tasks, as a starting point for runs. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { isActive } from '@reasoning-gym-server/contract/eval'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { mean } from '../../grading/statistics.ts'
import type { MeasuredItem } from '../runs/frontier/curriculum-start.ts'
import type { Ladders } from '../tasks/ladders.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import type { JobOfKind } from './generation-job-record.ts'

interface EvalMeasurementsDeps {
  aggregator: EvalAggregator
  ladders: Ladders
}

/**
 * Returns the scored items in eval order, without items of earlier ladders, whose difficulties now have another
 * meaning. Throws `invalid_request` if there are none or the eval has not ended.
 */
export async function measureEval(
  job: JobOfKind<'eval'>,
  { aggregator, ladders }: EvalMeasurementsDeps,
): Promise<MeasuredItem[]> {
  if (isActive(job.status)) throw cannotStart(`The eval ${job.id} has not ended`, 'use it once its status is done')
  const { items: suiteItems, itemOfSample } = await aggregator.listItems(job)
  const recipes = suiteItems.map(({ id }) => decodeItemId(id))
  const scores = recipes.map((): number[] => [])
  for await (const [sample, verdict] of aggregator.streamVerdicts(job)) {
    if (verdict?.score !== null && verdict !== null) scores[itemOfSample(sample)]?.push(verdict.score)
  }
  const items = recipes.flatMap((recipe, k): MeasuredItem[] => {
    const { task, difficulty } = recipe
    const own = scores[k] ?? []
    if (difficulty === null || own.length === 0 || !ladders.isCurrent(recipe)) return []
    return [{ task, difficulty, score: mean(own), samples: own.length }]
  })
  if (items.length === 0)
    throw cannotStart(
      `The eval ${job.id} has no scored items on the current ladders, or they have expired`,
      'must be an eval on the suite `frontier` or `ladder-2`, or on items with a difficulty',
    )
  return items
}

function cannotStart(message: string, hint: string): ServiceError {
  return new ServiceError('invalid_request', message, { errors: [{ path: 'curriculum_start.eval', message: hint }] })
}
