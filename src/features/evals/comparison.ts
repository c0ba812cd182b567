/**
 * Compares two evals of one suite by the paired differences of their items, and finds the items that one model answers
 * correctly and the other does not.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { EvalComparison, FlippedItem, FlippedSide } from '@reasoning-gym-server/contract/eval'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { isCorrect } from '@reasoning-gym-server/contract/verdict'
import { meanOrNull } from '../../grading/statistics.ts'
import type { TaskCards } from '../tasks/task-cards.ts'
import { type EvalParts, findGuessFloor, type KnownItems } from './job-items.ts'
import { buildEvalView } from './kinds/eval.ts'
import type { JobOfKind } from './records.ts'
import type { SampleRepository } from './samples/repository.ts'
import { streamVerdicts } from './samples/stream.ts'
import { estimateLift } from './statistics/means.ts'
import {
  holmCorrection,
  NO_DIFFERENCE,
  pairedDifference,
  stratifiedDifference,
} from './statistics/paired-differences.ts'

interface ScoredPair {
  task: string
  scores: [a: number, b: number]
  /** Mean score of guessing under each eval's scoring; 0 where it was not measured. */
  floors: [a: number, b: number]
}

/** Throws `invalid_request` unless both evals have the same items. */
export async function computeComparison(
  a: JobOfKind<'eval'>,
  b: JobOfKind<'eval'>,
  deps: EvalParts,
): Promise<EvalComparison> {
  const items = await pairItems(a, b, deps)
  const pairs = items.map((pair) => toScoredPair(pair, [a, b], deps.cards))
  const flips = Map.groupBy(items, ({ task }) => task)
  const byTask = [...Map.groupBy(pairs, ({ task }) => task)].toSorted(([x], [y]) => (x < y ? -1 : 1))
  const tasks = byTask.map(([task, some]) => ({
    task,
    difference: pairedDifference(some.map(({ scores }) => scores)) ?? NO_DIFFERENCE,
    lift: compareLifts(a, b, some),
  }))
  const tested = tasks.filter(({ difference }) => difference.p !== null)
  const corrected = new Map(
    holmCorrection(tested.map(({ difference }) => difference.p ?? 1)).map((p, k) => [tested[k]?.task, p]),
  )
  const strata = byTask.map(([, some]) => some.map(({ scores }) => scores))
  return {
    a: { ...describeEval(a), ...summarize(pairs, 0) },
    b: { ...describeEval(b), ...summarize(pairs, 1) },
    suite: buildEvalView(a).suite,
    ...(stratifiedDifference(strata) ?? NO_DIFFERENCE),
    ...compareLifts(a, b, pairs),
    ...countFlips(items),
    tasks: Object.fromEntries(
      tasks.map(({ task, difference, lift }) => {
        const p_corrected = corrected.get(task) ?? null
        const significant = p_corrected !== null && p_corrected < 0.05
        return [
          task,
          {
            ...difference,
            ...lift,
            ...countFlips(flips.get(task) ?? []),
            p_corrected,
            significant,
            verdict: getVerdict(difference, significant),
          },
        ]
      }),
    ),
  }
}

function describeEval(job: JobOfKind<'eval'>) {
  const { id, model, run, step, labels, created_at } = buildEvalView(job)
  return { id, model, run, step, labels, created_at }
}

function toScoredPair(
  { item_id, task, a, b }: ItemPair,
  [jobA, jobB]: [JobOfKind<'eval'>, JobOfKind<'eval'>],
  cards: TaskCards,
): ScoredPair {
  const findFloor = ({ spec }: JobOfKind<'eval'>) => findGuessFloor(cards, item_id, spec) ?? 0
  return { task, scores: [a.mean, b.mean], floors: [findFloor(jobA), findFloor(jobB)] }
}

function summarize(pairs: readonly ScoredPair[], side: 0 | 1): { mean_score: number | null; lift: number | null } {
  const mean = meanOrNull(pairs.map(({ scores }) => scores[side]))
  const floors = pairs.map(({ floors }) => floors[side])
  const estimate = mean === null ? null : { mean, stderr: null, confidence_95: null }
  return { mean_score: mean, lift: estimateLift(estimate, floors).lift }
}

/** Returns no lifts if the scoring differs: without a common floor, a difference of lifts says nothing about the models. */
function compareLifts(a: JobOfKind<'eval'>, b: JobOfKind<'eval'>, pairs: readonly ScoredPair[]) {
  const isComparable = a.spec.grading_rules.scoring === b.spec.grading_rules.scoring
  const guess_floor = isComparable ? meanOrNull(pairs.map(({ floors }) => floors[0])) : null
  const paired = stratifiedDifference(
    [...Map.groupBy(pairs, ({ task }) => task).values()].map((some) => some.map(({ scores }) => scores)),
  )
  if (guess_floor === null || guess_floor >= 1 || !paired)
    return { guess_floor, lift_difference: null, lift_difference_confidence_95: null }
  const stretch = (difference: number) => Math.min(2, Math.max(-2, difference / (1 - guess_floor))) // lifts are in [-1, 1]
  return {
    guess_floor,
    lift_difference: stretch(paired.difference),
    lift_difference_confidence_95: paired.confidence_95?.map(stretch) ?? null,
  }
}

function getVerdict({ p, difference }: { p: number | null; difference: number | null }, significant: boolean) {
  if (p === null) return 'too_few_items'
  if (!significant) return 'no_difference_shown'
  return (difference ?? 0) > 0 ? 'a_better' : 'b_better'
}

/** A sample that stands for its item: the first that is right, or the first that is wrong. */
interface ExampleSample {
  sample: number
  score: number
  answer: string | null
}

/** The scored samples of one item in one eval. */
interface ItemOutcome {
  scores: number[]
  mean: number
  /** Whether more than half of the scored samples are right. */
  correct: boolean
  /** The first sample whose result is that of the item. */
  example: ExampleSample
}

/** An item with a score in both evals. */
interface ItemPair {
  item_id: string
  task: string
  a: ItemOutcome
  b: ItemOutcome
}

/** Leaves out twins, which no other eval has. */
async function listSuiteItems(job: JobOfKind<'eval'>, { openItems }: EvalParts): Promise<KnownItems> {
  const { items, indexOf } = await openItems(job).list()
  return { items: job.spec.twin ? items.slice(0, job.spec.suite.items) : items, indexOf }
}

/** Lists the pairs in the order of the suite. Throws `invalid_request` unless both evals have the same items. */
export async function pairItems(a: JobOfKind<'eval'>, b: JobOfKind<'eval'>, deps: EvalParts): Promise<ItemPair[]> {
  if (a.spec.frontier || b.spec.frontier)
    throw new ServiceError(
      'invalid_request',
      'Frontier evals cannot be compared item by item, because each chooses its own items. Compare difficulty_at_half of the results, with its intervals.',
    )
  const [sideA, sideB] = await Promise.all([listSuiteItems(a, deps), listSuiteItems(b, deps)])
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

function countFlips(pairs: readonly ItemPair[]): { only_a_right: number; only_b_right: number } {
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
