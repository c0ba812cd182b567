/** Warns where the last groups of a task earn reward that does not come from solving it. */
import type { Diagnosis, RunWarning } from '../../contract/diagnosis.ts'
import type { RunSettings } from '../../contract/run.ts'
import { diagnose, diagnoseTasks } from './diagnosis.ts'
import type { GroupOutcome } from './group-outcome.ts'

/** Fewer questions or answers decide nothing: an honest policy gives equal answers to a few questions by chance. */
const MIN_QUESTIONS = 20
const MIN_CONTROL_ANSWERS = 12
/** Share of the most common answer: at least, and on the way from the guess floor, which is no less than its right share, to 1. */
const MIN_COLLAPSED_SHARE = 0.4
const MIN_COLLAPSE = 0.25
/** Without a known guess floor, a task may have one right answer for nearly all questions. */
const MIN_COLLAPSED_SHARE_WITHOUT_FLOOR = 0.95
/** A policy that is this far above guessing answers alike because it is right. */
const MAX_COLLAPSED_LIFT = 0.5
/** Partial credit that hardened scoring does not give leaves a smaller gap in nearly all tasks. */
const MIN_HACK_GAP = 0.1
/** Share of the score that only upstream scoring pays. */
const MIN_HACKED_SHARE = 0.25
/** Above the guess floor, which includes what an answer to another item earns by chance. */
const MIN_PERMUTED_LIFT = 0.15
/** Share of the score that answers keep on another item. */
const MIN_PERMUTED_SHARE = 0.5
/** Assumed for a config without a measured guess floor: about that of yes/no tasks whose answer is mostly yes. */
const FLOOR_IF_UNKNOWN = 0.75
/** Above this floor most wrong answers are paid, so the permuted score says little: more answers must be checked. */
const HIGH_FLOOR = 0.9
const MIN_CONTROL_ANSWERS_AT_HIGH_FLOOR = 24

/** A drift shows here first, if enough of their answers were checked. */
const LATEST_GROUPS = 20

type Settings = Pick<RunSettings, 'scoring'>

/** By task, in the order of their names. `windows` are of its last groups, oldest first; `diagnoses` are of these windows. */
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

/** Without a known guess floor, the score decides. */
export function isAboveGuessing({ lift, guess_floor, mean_score }: Diagnosis): boolean {
  return ((guess_floor === null ? mean_score : lift) ?? 0) >= MAX_COLLAPSED_LIFT
}

/** Under hardened scoring the gap is not paid, so the policy does not learn it. */
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
  return `${share} % of the answers to ${questions} different questions of ${task} are ${quote(top_answer?.text)}: the policy is collapsing onto the most common answer (mean score ${format(mean_score)}, guess floor ${format(guess_floor)}).`
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
