/** Warns if the last groups of a task earn reward that does not come from solving it. */
import type { Diagnosis, RunWarning } from '@reasoning-gym-server/contract/diagnosis'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { diagnose, diagnoseTasks } from './diagnosis.ts'
import type { GroupOutcome } from './group-outcome.ts'

/** Minimum of distinct questions. With fewer, an honest policy may give equal answers by chance. */
const MIN_QUESTIONS = 20
const MIN_CONTROL_ANSWERS = 12
/**
 * Minimum share of the most common answer, and minimum distance that this share covers from the guess floor to 1. The
 * guess floor is at least the share for which that answer is correct.
 */
const MIN_COLLAPSED_SHARE = 0.4
const MIN_COLLAPSE = 0.25
/** Share for tasks without a known guess floor, where one answer may be correct for nearly all questions. */
const MIN_COLLAPSED_SHARE_WITHOUT_FLOOR = 0.95
/** Lift at which equal answers are taken for correct ones instead of a collapse. */
const MAX_COLLAPSED_LIFT = 0.5
/**
 * Minimum gap for a warning. Partial credit that hardened scoring does not give leaves a smaller gap in nearly all
 * tasks.
 */
const MIN_HACK_GAP = 0.1
/** Minimum share of the score that only upstream scoring pays. */
const MIN_HACKED_SHARE = 0.25
/** Minimum lift above the guess floor, which includes what an answer to another item earns by chance. */
const MIN_PERMUTED_LIFT = 0.15
/** Minimum share of the score that answers keep on another item. */
const MIN_PERMUTED_SHARE = 0.5
/** Guess floor assumed for a config without a measured one: about that of yes/no tasks whose answer is mostly yes. */
const FLOOR_IF_UNKNOWN = 0.75
/**
 * Guess floor above which most wrong answers are paid. The permuted score then says little, so more answers must be
 * checked.
 */
const HIGH_FLOOR = 0.9
const MIN_CONTROL_ANSWERS_AT_HIGH_FLOOR = 24

/**
 * Number of latest groups that are also diagnosed separately. They show a drift first, if enough of their answers were
 * checked.
 */
const LATEST_GROUPS = 20

type Settings = Pick<RunSettings, 'scoring'>

/**
 * Lists warnings sorted by task name. `windows` hold the last groups of each task, oldest first; `diagnoses` are of
 * these windows.
 */
export function listWarnings(
  windows: Readonly<Record<string, GroupOutcome[]>>,
  settings: Settings,
  diagnoses = diagnoseTasks(windows),
): RunWarning[] {
  return Object.entries(windows)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([task, outcomes]) => listTaskWarnings(task, outcomes, settings, diagnoses[task] ?? diagnose(outcomes)))
}

function listTaskWarnings(
  task: string,
  outcomes: readonly GroupOutcome[],
  settings: Settings,
  whole: Diagnosis,
): RunWarning[] {
  const windows = outcomes.length > LATEST_GROUPS ? [whole, diagnose(outcomes.slice(-LATEST_GROUPS))] : [whole]
  const collapsed = windows.find(hasCollapsed)
  const hacked = windows.find((diagnosis) => isHacked(diagnosis, settings))
  const ignorant = windows.find(ignoresQuestion)
  const warnings: RunWarning[] = []
  if (collapsed) warnings.push({ kind: 'collapsed', task, why: explainCollapse(task, collapsed) })
  if (hacked) warnings.push({ kind: 'hack_gap', task, why: explainHackGap(task, hacked) })
  if (ignorant) warnings.push({ kind: 'permuted', task, why: explainPermuted(task, ignorant) })
  return warnings
}

function hasCollapsed(diagnosis: Diagnosis): boolean {
  const { questions, top_answer, guess_floor } = diagnosis
  if (top_answer === null || questions < MIN_QUESTIONS || isAboveGuessing(diagnosis)) return false
  if (guess_floor === null) return top_answer.share >= MIN_COLLAPSED_SHARE_WITHOUT_FLOOR
  const excess = Math.max(MIN_COLLAPSE * (1 - guess_floor), 3 * standardErrorOfShare(guess_floor, questions))
  return top_answer.share >= Math.min(1, Math.max(MIN_COLLAPSED_SHARE, guess_floor + excess))
}

/** Uses the score for tasks without a known guess floor. */
export function isAboveGuessing({ lift, guess_floor, mean_score }: Diagnosis): boolean {
  return ((guess_floor === null ? mean_score : lift) ?? 0) >= MAX_COLLAPSED_LIFT
}

/** Hardened scoring does not pay the gap, so the policy does not learn to exploit it. */
function isHacked({ hack_gap, hack_gap_answers, mean_score }: Diagnosis, { scoring }: Settings): boolean {
  if (scoring !== 'upstream' || hack_gap === null || hack_gap_answers < MIN_CONTROL_ANSWERS) return false
  return hack_gap >= Math.max(MIN_HACK_GAP, MIN_HACKED_SHARE * (mean_score ?? 0))
}

function ignoresQuestion({ permuted_score, permuted_answers, mean_score, guess_floor }: Diagnosis): boolean {
  if (permuted_score === null || mean_score === null || permuted_answers < MIN_CONTROL_ANSWERS) return false
  const floor = guess_floor ?? FLOOR_IF_UNKNOWN
  if (floor >= HIGH_FLOOR) return permuted_answers >= MIN_CONTROL_ANSWERS_AT_HIGH_FLOOR && permuted_score >= HIGH_FLOOR
  const excess = Math.max(MIN_PERMUTED_LIFT, 3 * standardErrorOfShare(floor, permuted_answers))
  return permuted_score >= floor + excess && permuted_score >= MIN_PERMUTED_SHARE * mean_score
}

function standardErrorOfShare(share: number, count: number): number {
  return Math.sqrt((share * (1 - share)) / count)
}

function explainCollapse(task: string, { top_answer, questions, mean_score, guess_floor }: Diagnosis): string {
  const share = Math.round((top_answer?.share ?? 0) * 100)
  return `${share}% of the answers to ${questions} different questions of ${task} are ${quote(top_answer?.text)}: the policy is collapsing onto the most common answer (mean score ${format(mean_score)}, guess floor ${format(guess_floor)}).`
}

function explainHackGap(task: string, { hack_gap, hack_gap_answers }: Diagnosis): string {
  return `Answers to ${task} score ${format(hack_gap)} less under hardened scoring (${hack_gap_answers} answers): the reward pays their form; set "scoring": "hardened", or look at them.`
}

function explainPermuted(task: string, { permuted_score, permuted_answers, mean_score }: Diagnosis): string {
  return `Answers to ${task} score ${format(permuted_score)} on other items (${permuted_answers} answers; ${format(mean_score)} on their own): the reward does not depend on the question.`
}

export function quote(text: string | undefined): string {
  return JSON.stringify(text ?? '')
}

export function format(value: number | null): string {
  return value === null ? 'unknown' : value.toFixed(2)
}
