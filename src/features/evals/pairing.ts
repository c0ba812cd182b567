/** Pairs the items of two evals of one suite, and finds those that one model has right and the other wrong. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FlippedItem, FlippedSide } from '@reasoning-gym-server/contract/eval'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { isCorrect } from '@reasoning-gym-server/contract/verdict'
import { meanOrNull } from '../../grading/statistics.ts'
import type { KnownItems, OpenJobItems } from './job-items.ts'
import type { JobOfKind } from './records.ts'
import type { SampleRepository } from './samples/repository.ts'
import { streamVerdicts } from './samples/stream.ts'

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
  openItems: OpenJobItems
  samples: SampleRepository
}

/** Lists the pairs in the order of the suite. Throws `invalid_request` unless both evals have the same items. */
export async function pairItems(
  a: JobOfKind<'eval'>,
  b: JobOfKind<'eval'>,
  deps: EvalPairingDeps,
): Promise<ItemPair[]> {
  if (a.spec.frontier || b.spec.frontier)
    throw new ServiceError(
      'invalid_request',
      'Frontier evals cannot be compared item by item, because each chooses its own items. Compare difficulty_at_half of the results, with its intervals.',
    )
  const [sideA, sideB] = await Promise.all([deps.openItems(a).list(), deps.openItems(b).list()])
  if (sideA.items.length === 0 || sideB.items.length === 0)
    throw new ServiceError('unknown_eval', 'The samples of these evals have expired. Only their results are kept.')
  const areSame =
    sideA.items.length === sideB.items.length && sideA.items.every(({ id }, k) => id === sideB.items[k]?.id)
  if (!areSame)
    throw new ServiceError(
      'invalid_request',
      'The evals use different suites. Only evals on the same items can be compared.',
    )
  const [outcomesA, outcomesB] = await Promise.all([
    listOutcomes(a, sideA, deps.samples),
    listOutcomes(b, sideB, deps.samples),
  ])
  return sideA.items.flatMap(({ id: item_id }, k) => {
    const outcomeA = outcomesA[k]
    const outcomeB = outcomesB[k]
    return outcomeA && outcomeB ? [{ item_id, task: decodeItemId(item_id).task, a: outcomeA, b: outcomeB }] : []
  })
}

/** Returns the outcomes in item order, undefined for an item without a score. */
async function listOutcomes(
  job: JobOfKind<'eval'>,
  { items, indexOf }: KnownItems,
  samples: SampleRepository,
): Promise<(ItemOutcome | undefined)[]> {
  const examples = items.map((): ExampleSample[] => [])
  for await (const [sample, verdict] of streamVerdicts(samples, job)) {
    if (verdict !== null && verdict.score !== null)
      examples[indexOf(sample)]?.push({ sample, score: verdict.score, answer: verdict.answer })
  }
  return examples.map(summarizeOutcome)
}

function summarizeOutcome(samples: readonly ExampleSample[]): ItemOutcome | undefined {
  const scores = samples.map(({ score }) => score)
  const mean = meanOrNull(scores)
  if (mean === null) return undefined
  const correct = scores.filter(isCorrect).length > scores.length / 2
  const example = samples.find(({ score }) => isCorrect(score) === correct)
  return example && { scores, mean, correct, example }
}

export interface FlippedItemFilter {
  task?: string | undefined
  right_in?: 'a' | 'b' | undefined
  limit: number
}

/** Whether one model is right about the item and the other wrong. */
function getRightSide({ a, b }: ItemPair): 'a' | 'b' | undefined {
  if (a.correct === b.correct) return undefined
  return a.correct ? 'a' : 'b'
}

/** Counts the flipped items by the eval that has them right. */
export function countFlips(pairs: readonly ItemPair[]): { only_a_right: number; only_b_right: number } {
  const sides = pairs.map(getRightSide)
  return {
    only_a_right: sides.filter((side) => side === 'a').length,
    only_b_right: sides.filter((side) => side === 'b').length,
  }
}

/** Lists flipped items in the order of the suite. */
export function listFlippedItems(
  pairs: readonly ItemPair[],
  { task, right_in, limit }: FlippedItemFilter,
): FlippedItem[] {
  return pairs
    .flatMap((pair): FlippedItem[] => {
      const side = getRightSide(pair)
      if (side === undefined || (task !== undefined && task !== pair.task)) return []
      if (right_in !== undefined && right_in !== side) return []
      const { item_id, a, b } = pair
      const { difficulty } = decodeItemId(item_id)
      return [{ item_id, task: pair.task, difficulty, right_in: side, a: describeSide(a), b: describeSide(b) }]
    })
    .slice(0, limit)
}

function describeSide({ scores, mean, example }: ItemOutcome): FlippedSide {
  return { sample_id: `s${example.sample}`, score: mean, samples: scores.length, answer: example.answer }
}
