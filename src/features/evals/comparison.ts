/** Compares two evals of one suite by the paired differences of their items. */
import type { EvalComparison } from '@reasoning-gym-server/contract/eval'
import { meanOrNull } from '../../grading/statistics.ts'
import type { TaskCards } from '../tasks/task-cards.ts'
import { findGuessFloor } from './job-items.ts'
import { buildEvalView } from './kinds/eval.ts'
import { countFlips, type EvalPairingDeps, type ItemPair, pairItems } from './pairing.ts'
import type { JobOfKind } from './records.ts'
import { estimateLift } from './statistics/lift.ts'
import { holmCorrection, pairedDifference, stratifiedDifference } from './statistics/paired-differences.ts'

const NO_DIFFERENCE = { n: 0, difference: null, stderr: null, confidence_95: null, p: null, smallest_detectable: null }

/** An item pair with what the statistics need of it. */
interface ScoredPair {
  task: string
  scores: [a: number, b: number]
  /** Mean score of guessing under each eval's scoring; 0 where it was not measured. */
  floors: [a: number, b: number]
}

interface ComparisonDeps extends EvalPairingDeps {
  cards: TaskCards
}

/** Throws `invalid_request` unless both evals have the same items. */
export async function computeComparison(
  a: JobOfKind<'eval'>,
  b: JobOfKind<'eval'>,
  deps: ComparisonDeps,
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

/**
 * Returns no lifts if the scoring differs: without a common floor, a difference of lifts says nothing about the models.
 */
function compareLifts(a: JobOfKind<'eval'>, b: JobOfKind<'eval'>, pairs: readonly ScoredPair[]) {
  const isComparable = a.spec.grading_rules.scoring === b.spec.grading_rules.scoring
  const guess_floor = isComparable ? meanOrNull(pairs.map(({ floors }) => floors[0])) : null
  const paired = stratifiedDifference(
    [...Map.groupBy(pairs, ({ task }) => task).values()].map((some) => some.map(({ scores }) => scores)),
  )
  if (guess_floor === null || guess_floor >= 1 || !paired)
    return { guess_floor, lift_difference: null, lift_difference_confidence_95: null }
  const stretch = 1 / (1 - guess_floor)
  return {
    guess_floor,
    lift_difference: paired.difference * stretch,
    lift_difference_confidence_95: paired.confidence_95?.map((bound) => bound * stretch) ?? null,
  }
}

function getVerdict({ p, difference }: { p: number | null; difference: number | null }, significant: boolean) {
  if (p === null) return 'too_few_items'
  if (!significant) return 'no_difference_shown'
  return (difference ?? 0) > 0 ? 'a_better' : 'b_better'
}
