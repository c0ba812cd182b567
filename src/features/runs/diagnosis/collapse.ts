/**
 * Whether a policy has collapsed onto one answer: it gives the answer to many different questions, and its scores are no
 * better than those of guessing. Two signals apply this rule to different groups:
 *
 * - *Collapsing* is a warning. Over a window of groups, which may still have signal, the share of the answer is far above
 *   what the guess floor explains. An honest policy may give equal answers by chance, so it takes many questions.
 * - A *collapsed end* explains why groups have no signal: the latest groups of a task all have this one answer. That
 *   leaves nothing to chance, so few questions suffice.
 *
 * A collapse usually shows in the first signal, and in the second one once it is complete.
 */
import type { Diagnosis } from '@reasoning-gym-server/contract/run'
import { diagnose, isConstant } from './diagnosis.ts'
import type { GroupOutcome } from './group-outcome.ts'

/** Minimum of distinct questions for a warning. */
const MIN_QUESTIONS_OF_WARNING = 20
/** Minimum of distinct questions at the end. Fewer of them may share one answer by chance. */
const MIN_QUESTIONS_OF_END = 5
/**
 * Minimum share of the most common answer, and minimum distance that this share covers from the guess floor to 1. The
 * guess floor is at least the share for which that answer is correct.
 */
const MIN_SHARE = 0.4
const MIN_EXCESS = 0.25
/** Share for tasks without a known guess floor, where one answer may be correct for nearly all questions. */
const MIN_SHARE_WITHOUT_FLOOR = 0.95
/** Lift at which equal answers are taken for correct ones instead of a collapse. */
const MAX_LIFT = 0.5

/** The one rule. Uses the score in place of the lift for tasks without a known guess floor. */
function hasCollapsed(
  { top_answer, questions, lift, guess_floor, mean_score }: Diagnosis,
  minQuestions: number,
  minShare: number,
): boolean {
  const isAboveGuessing = ((guess_floor === null ? mean_score : lift) ?? 0) >= MAX_LIFT
  return top_answer !== null && questions >= minQuestions && top_answer.share >= minShare && !isAboveGuessing
}

/** Whether the groups of a diagnosis deserve the warning `collapsed`. */
export function isCollapsing(diagnosis: Diagnosis): boolean {
  const { questions, guess_floor: floor } = diagnosis
  if (floor === null) return hasCollapsed(diagnosis, MIN_QUESTIONS_OF_WARNING, MIN_SHARE_WITHOUT_FLOOR)
  const excess = Math.max(MIN_EXCESS * (1 - floor), 3 * standardErrorOfShare(floor, questions))
  return hasCollapsed(diagnosis, MIN_QUESTIONS_OF_WARNING, Math.min(1, Math.max(MIN_SHARE, floor + excess)))
}

export function explainCollapsing(task: string, { top_answer, questions, mean_score, guess_floor }: Diagnosis): string {
  const share = Math.round((top_answer?.share ?? 0) * 100)
  return `${share}% of the answers to ${questions} different questions of ${task} are ${quote(top_answer?.text)}: the policy is collapsing onto the most common answer (mean score ${formatScore(mean_score)}, guess floor ${formatScore(guess_floor)}).`
}

export interface CollapsedEnd {
  task: string
  /** The groups at the end that share one answer. */
  groups: readonly GroupOutcome[]
  diagnosis: Diagnosis
}

/** Finds the tasks whose latest groups, of those that `includes` accepts, share one answer. */
export function listCollapsedEnds(
  windows: Readonly<Record<string, GroupOutcome[]>>,
  includes: (outcome: GroupOutcome) => boolean,
): CollapsedEnd[] {
  return Object.entries(windows).flatMap(([task, outcomes]) => {
    const groups = takeConstantEnd(outcomes).filter(includes)
    const diagnosis = diagnose(groups)
    return hasCollapsed(diagnosis, MIN_QUESTIONS_OF_END, 1) ? [{ task, groups, diagnosis }] : []
  })
}

/** Returns the latest consecutive groups of a task that all have the same answer. */
function takeConstantEnd(outcomes: readonly GroupOutcome[]): GroupOutcome[] {
  const answer = outcomes.at(-1)?.counts[0]?.hash
  const end = outcomes.findLastIndex((outcome) => !isConstant(outcome) || outcome.counts[0]?.hash !== answer)
  return outcomes.slice(end + 1)
}

export function explainCollapsedEnd({ task, groups, diagnosis }: CollapsedEnd): string {
  const { top_answer, questions, mean_score, guess_floor } = diagnosis
  return `${groups.length} groups of ${task}, on ${questions} different questions, all answer ${quote(top_answer?.text)}: the policy has collapsed onto the most common answer (mean score ${formatScore(mean_score)}, guess floor ${formatScore(guess_floor)})`
}

export function standardErrorOfShare(share: number, count: number): number {
  return Math.sqrt((share * (1 - share)) / count)
}

function quote(text: string | undefined): string {
  return JSON.stringify(text ?? '')
}

export function formatScore(value: number | null): string {
  return value === null ? 'unknown' : value.toFixed(2)
}
