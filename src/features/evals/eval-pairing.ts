/** Pairs the items of two evals of one suite: what each model made of the same item. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { meanOrNull } from '../../grading/statistics.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import type { JobOfKind } from './generation-job-record.ts'
import { itemIndexOfSample } from './generation-job-spec.ts'
import type { SampleRepository } from './sample-repository.ts'
import { parseSuiteItem } from './suites.ts'

/** Score from which an answer is correct, as in `accuracy`. */
const CORRECT_SCORE = 0.99

/** A sample that stands for its item: the first that is right, or the first that is wrong. */
interface ExampleSample {
  sample: number
  score: number
  answer: string | null
}

/** The scored samples of one item in one eval. */
export interface ItemOutcome {
  scores: number[]
  mean: number
  /** Whether more than half of the scored samples are right. */
  correct: boolean
  /** The first sample whose result is that of the item. */
  example: ExampleSample
}

/** An item with a score in both evals. */
export interface ItemPair {
  item_id: string
  task: string
  a: ItemOutcome
  b: ItemOutcome
}

export interface EvalPairingDeps {
  samples: SampleRepository
  aggregator: EvalAggregator
}

/** Lists the pairs in the order of the suite. Throws `invalid_request` unless both evals have the same items. */
export async function pairItems(
  a: JobOfKind<'eval'>,
  b: JobOfKind<'eval'>,
  { samples, aggregator }: EvalPairingDeps,
): Promise<ItemPair[]> {
  if (a.spec.frontier || b.spec.frontier)
    throw new ServiceError(
      'invalid_request',
      'Frontier evals cannot be compared item by item, because each chooses its own items. Compare difficulty_at_half of the results, with its intervals.',
    )
  const [items, others] = (await Promise.all([samples.listItems(a.id), samples.listItems(b.id)])).map((lines) =>
    lines.map((line) => parseSuiteItem(line).id),
  )
  if (!items?.length || !others?.length)
    throw new ServiceError('unknown_eval', 'The samples of these evals have expired. Only their results are kept.')
  if (items.length !== others.length || items.some((id, k) => id !== others[k]))
    throw new ServiceError(
      'invalid_request',
      'The evals use different suites. Only evals on the same items can be compared.',
    )
  const [outcomesA, outcomesB] = await Promise.all([
    listOutcomes(a, items.length, aggregator),
    listOutcomes(b, items.length, aggregator),
  ])
  return items.flatMap((item_id, k) => {
    const [x, y] = [outcomesA[k], outcomesB[k]]
    return x && y ? [{ item_id, task: decodeItemId(item_id).task, a: x, b: y }] : []
  })
}

/** Returns the outcomes in item order, undefined for an item without a score. */
async function listOutcomes(
  job: JobOfKind<'eval'>,
  items: number,
  aggregator: EvalAggregator,
): Promise<(ItemOutcome | undefined)[]> {
  const examples: ExampleSample[][] = Array.from({ length: items }, () => [])
  for await (const [sample, verdict] of aggregator.streamVerdicts(job)) {
    if (verdict !== null && verdict.score !== null)
      examples[itemIndexOfSample(job.spec, sample)]?.push({ sample, score: verdict.score, answer: verdict.answer })
  }
  return examples.map(summarizeOutcome)
}

function summarizeOutcome(samples: readonly ExampleSample[]): ItemOutcome | undefined {
  const scores = samples.map(({ score }) => score)
  const mean = meanOrNull(scores)
  if (mean === null) return undefined
  const isCorrect = ({ score }: ExampleSample) => score >= CORRECT_SCORE
  const correct = samples.filter(isCorrect).length > samples.length / 2
  const example = samples.find((sample) => isCorrect(sample) === correct)
  return example && { scores, mean, correct, example }
}
