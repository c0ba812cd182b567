/** What an eval measured on the ladders of its tasks, for runs that start there. */
import { ServiceError } from '../../contract/errors.ts'
import { isActive } from '../../contract/eval.ts'
import { decodeItemId } from '../../contract/item-id.ts'
import { mean } from '../../grading/statistics.ts'
import type { MeasuredItem } from '../runs/frontier/curriculum-start.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import type { JobOfKind } from './generation-job-record.ts'

interface EvalMeasurementsDeps {
  aggregator: EvalAggregator
}

/** Items with a score, in the order of the eval. Throws `invalid_request` if there are none, or the eval has not ended. */
export async function measureEval(
  job: JobOfKind<'eval'>,
  { aggregator }: EvalMeasurementsDeps,
): Promise<MeasuredItem[]> {
  if (isActive(job.status)) throw cannotStart(`The eval ${job.id} has not ended`, 'use it once its status is done')
  const { items: suiteItems, itemOfSample } = await aggregator.listItems(job)
  const recipes = suiteItems.map(({ id }) => decodeItemId(id))
  const scores = recipes.map((): number[] => [])
  for await (const [sample, verdict] of aggregator.streamVerdicts(job)) {
    if (verdict?.score !== null && verdict !== null) scores[itemOfSample(sample)]?.push(verdict.score)
  }
  const items = recipes.flatMap(({ task, difficulty }, k): MeasuredItem[] => {
    const own = scores[k] ?? []
    return difficulty === null || own.length === 0 ? [] : [{ task, difficulty, score: mean(own), samples: own.length }]
  })
  if (items.length === 0)
    throw cannotStart(
      `The eval ${job.id} has no scored items with a difficulty, or they have expired`,
      'name an eval of the suite `ladder-2`, `frontier`, or of items with a difficulty',
    )
  return items
}

function cannotStart(message: string, hint: string): ServiceError {
  return new ServiceError('invalid_request', message, { errors: [{ path: 'curriculum_start.eval', message: hint }] })
}
