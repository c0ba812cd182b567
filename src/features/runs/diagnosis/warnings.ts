/** Warns if the last groups of a task earn reward that does not come from solving it. */
import type { Diagnosis, RunWarning } from '@reasoning-gym-server/contract/run'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { explainCollapsing, formatScore, isCollapsing, standardErrorOfShare } from './collapse.ts'
import { diagnose, diagnoseTasks } from './diagnosis.ts'
import type { GroupOutcome } from './group-outcome.ts'

const MIN_CONTROL_ANSWERS = 12
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
  const collapsed = windows.find(isCollapsing)
  const hacked = windows.find((diagnosis) => isHacked(diagnosis, settings))
  const ignorant = windows.find(ignoresQuestion)
  const warnings: RunWarning[] = []
  if (collapsed) warnings.push({ kind: 'collapsed', task, why: explainCollapsing(task, collapsed) })
  if (hacked) warnings.push({ kind: 'hack_gap', task, why: explainHackGap(task, hacked) })
  if (ignorant) warnings.push({ kind: 'permuted', task, why: explainPermuted(task, ignorant) })
  return warnings
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

function explainHackGap(task: string, { hack_gap, hack_gap_answers }: Diagnosis): string {
  return `Answers to ${task} score ${formatScore(hack_gap)} less under hardened scoring (${hack_gap_answers} answers): the reward pays their form; set "scoring": "hardened", or look at them.`
}

function explainPermuted(task: string, { permuted_score, permuted_answers, mean_score }: Diagnosis): string {
  return `Answers to ${task} score ${formatScore(permuted_score)} on other items (${permuted_answers} answers; ${formatScore(mean_score)} on their own): the reward does not depend on the question.`
}
