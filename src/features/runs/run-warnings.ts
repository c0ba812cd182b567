/** Warns where the last groups of a task earn reward that does not come from solving it. */
import type { Diagnosis, RunWarning } from '../../contract/diagnosis.ts'
import type { RunSettings } from '../../contract/run.ts'

/** Fewer questions or answers decide nothing: an honest policy gives equal answers to a few questions by chance. */
const MIN_QUESTIONS = 20
const MIN_CONTROL_ANSWERS = 20
/** Share of the most common answer, on the way from what guessing explains to 1. */
const MIN_COLLAPSE = 0.65
/** Without a known guess floor, a task may have one right answer for nearly all questions. */
const MIN_COLLAPSED_SHARE_WITHOUT_FLOOR = 0.95
/** A policy that is this far above guessing answers alike because it is right. */
export const MAX_COLLAPSED_LIFT = 0.5
/** Partial credit that hardened scoring does not give leaves a smaller gap. */
const MIN_HACK_GAP = 0.15
/** Above the guess floor, which includes what an answer to another item earns by chance. */
const MIN_PERMUTED_LIFT = 0.15
/** Share of the score that answers keep on another item. */
const MIN_PERMUTED_SHARE = 0.5
/** Where guessing earns nearly everything, answers that keep nearly all of their score. */
const HIGH_FLOOR = 0.8

type Settings = Pick<RunSettings, 'scoring'>

/** By task, in the order of their names. */
export function listWarningsOfTasks(diagnoses: Readonly<Record<string, Diagnosis>>, settings: Settings): RunWarning[] {
  return Object.keys(diagnoses)
    .toSorted()
    .flatMap((task) => listWarnings(task, diagnoses[task] as Diagnosis, settings)) // one of its keys
}

/** The warnings for one task from the diagnosis of its window. */
export function listWarnings(task: string, diagnosis: Diagnosis, settings: Settings): RunWarning[] {
  const warnings: RunWarning[] = []
  if (hasCollapsed(diagnosis)) warnings.push({ kind: 'collapsed', task, why: explainCollapse(task, diagnosis) })
  if (isHacked(diagnosis, settings)) warnings.push({ kind: 'hack_gap', task, why: explainHackGap(task, diagnosis) })
  if (ignoresQuestion(diagnosis)) warnings.push({ kind: 'permuted', task, why: explainPermuted(task, diagnosis) })
  return warnings
}

function hasCollapsed({ questions, top_answer, guess_floor, lift }: Diagnosis): boolean {
  if (top_answer === null || questions < MIN_QUESTIONS || (lift ?? 0) >= MAX_COLLAPSED_LIFT) return false
  const floor = guess_floor ?? 0
  if (floor === 0) return top_answer.share >= MIN_COLLAPSED_SHARE_WITHOUT_FLOOR
  const standardError = Math.sqrt((floor * (1 - floor)) / questions)
  return top_answer.share >= Math.min(1, floor + Math.max(MIN_COLLAPSE * (1 - floor), 3 * standardError))
}

/** Under hardened scoring the gap is not paid, so the policy does not learn it. */
function isHacked({ hack_gap, hack_gap_answers }: Diagnosis, { scoring }: Settings): boolean {
  return scoring === 'upstream' && hack_gap_answers >= MIN_CONTROL_ANSWERS && (hack_gap ?? 0) >= MIN_HACK_GAP
}

function ignoresQuestion({ permuted_score, permuted_answers, mean_score, guess_floor }: Diagnosis): boolean {
  if (permuted_score === null || mean_score === null || permuted_answers < MIN_CONTROL_ANSWERS) return false
  const floor = guess_floor ?? 0
  if (floor >= HIGH_FLOOR) return permuted_score >= HIGH_FLOOR && permuted_score >= 0.9 * mean_score
  return permuted_score >= floor + MIN_PERMUTED_LIFT && permuted_score >= MIN_PERMUTED_SHARE * mean_score
}

function explainCollapse(task: string, { top_answer, questions, mean_score, guess_floor }: Diagnosis): string {
  const share = Math.round((top_answer?.share ?? 0) * 100)
  return `${share} % of the answers to ${questions} different questions of ${task} are ${quote(top_answer?.text)}: the policy collapses onto the most common answer (mean score ${format(mean_score)}, guess floor ${format(guess_floor)}).`
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
