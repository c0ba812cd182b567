/**
 * Diagnoses windows of groups: the diversity of answers, the reward above guessing, and the results of the audits. From
 * these figures it warns if a task earns reward that does not come from solving it, and explains why groups carry no
 * signal.
 *
 * A policy has collapsed onto one answer if it gives the answer to many different questions, and its scores are no better
 * than those of guessing. Two signals apply this rule to different groups:
 *
 * - *Collapsing* is a warning. Over a window of groups, which may still have signal, the share of the answer is far above
 *   what the guess floor explains. An honest policy may give equal answers by chance, so it takes many questions.
 * - A *collapsed end* explains why groups have no signal: the latest groups of a task all have this one answer. That
 *   leaves nothing to chance, so few questions suffice.
 *
 * A collapse usually shows in the first signal, and in the second one once it is complete.
 */
import type { Diagnosis, RunWarning } from '@reasoning-gym-server/contract/run'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { computeLift, entropyOfCounts, mean, meanOfSum, meanOrNull, sampleStd } from '../../../grading/statistics.ts'
import { memoizeByIdentity } from '../../../platform/shared-results.ts'
import { type AuditSums, type GroupOutcome, OUTCOME_WINDOW, type OutcomeKind } from './group-outcome.ts'
import { listTrendWarnings } from './trend-warnings.ts'

export function isConstant({ scored, answers, distinct }: GroupOutcome): boolean {
  return distinct === 1 && answers > 1 && answers === scored
}

/** Merges the last groups of all tasks, oldest first. */
export const mergeWindows = memoizeByIdentity((windows: Readonly<Record<string, GroupOutcome[]>>): GroupOutcome[] => {
  const outcomes = Object.values(windows).flat()
  // sorts the times alone, because most of thousands of groups are too old to be kept
  const times = Float64Array.from(outcomes, ({ completedAt }) => completedAt).sort()
  const since = times[Math.max(0, times.length - OUTCOME_WINDOW)] ?? 0
  return outcomes
    .filter(({ completedAt }) => completedAt >= since)
    .toSorted((a, b) => a.completedAt - b.completedAt)
    .slice(-OUTCOME_WINDOW)
})

export function diagnoseTasks(windows: Readonly<Record<string, GroupOutcome[]>>): Record<string, Diagnosis> {
  return Object.fromEntries(Object.entries(windows).map(([task, outcomes]) => [task, diagnose(outcomes)]))
}

/** Diagnoses the outcomes of one task or of several, oldest first. */
export const diagnose = memoizeByIdentity((outcomes: readonly GroupOutcome[]): Diagnosis => {
  const perQuestion = keepLastOfEachQuestion(outcomes)
  const answers = countOverQuestions(perQuestion)
  const scores = outcomes.flatMap(({ meanScore }) => meanScore ?? [])
  const meanScore = meanOrNull(scores)
  const floors = outcomes.flatMap(({ meanScore: score, guessFloor: floor }) => (score === null ? [] : (floor ?? [])))
  const guessFloor = floors.length === scores.length ? meanOrNull(floors) : null
  const hackGap = sumAudits(outcomes.map((one) => one.hackGap))
  const permuted = sumAudits(outcomes.map((one) => one.permuted))
  const comparable = outcomes.filter(({ scored }) => scored > 1)
  return {
    groups: outcomes.length,
    questions: perQuestion.length,
    answer_entropy: answers && entropyOfCounts([...answers.counts.values(), ...Array<number>(answers.rest).fill(1)]),
    group_entropy: meanOrNull(outcomes.filter((one) => one.answers > 1).map(({ entropy }) => entropy)),
    top_answer: answers && { text: answers.text, share: answers.share },
    constant_groups: meanOrNull(comparable.map((one) => (isConstant(one) ? 1 : 0))),
    mean_score: meanScore,
    guess_floor: guessFloor,
    lift: computeLift(meanScore, guessFloor),
    lift_stderr: computeLiftError(outcomes),
    hack_gap: meanOfSum(hackGap.sum, hackGap.count),
    hack_gap_answers: hackGap.count,
    permuted_score: meanOfSum(permuted.sum, permuted.count),
    permuted_answers: permuted.count,
  }
})

/** Groups count as independent, and their rollouts do not. Null as the lift is, and with fewer than two groups. */
function computeLiftError(outcomes: readonly GroupOutcome[]): number | null {
  const scores = outcomes.flatMap(({ meanScore }) => meanScore ?? [])
  const floors = outcomes.flatMap(({ meanScore, guessFloor }) => (meanScore === null ? [] : (guessFloor ?? [])))
  const floor = floors.length === scores.length ? meanOrNull(floors) : null
  if (floor === null || scores.length < 2 || computeLift(mean(scores), floor) === null) return null
  const gains = scores.map((score, k) => score - (floors[k] ?? 0))
  return sampleStd(gains) / Math.sqrt(gains.length) / (1 - floor)
}

/**
 * Keeps the last group of each question. A rung may have few distinct questions, and equal answers to the same question
 * say nothing about the policy.
 */
function keepLastOfEachQuestion(outcomes: readonly GroupOutcome[]): GroupOutcome[] {
  return [...new Map(outcomes.map((outcome) => [outcome.question, outcome])).values()]
}

/** `rest` is the number of answers that count as different from all others. */
function countOverQuestions(outcomes: readonly GroupOutcome[]) {
  const counts = new Map<number, number>()
  const shown = new Map<number, string>()
  let total = 0
  let counted = 0
  for (const outcome of outcomes) {
    total += outcome.answers
    outcome.counts.forEach(({ hash, count }, k) => {
      counted += count
      counts.set(hash, (counts.get(hash) ?? 0) + count)
      if (k === 0) shown.set(hash, outcome.shown)
    })
  }
  const [top] = [...counts].toSorted(([, a], [, b]) => b - a)
  if (!top) return null
  const [hash, count] = top
  return { counts, rest: total - counted, text: shown.get(hash) ?? '', share: count / total }
}

function sumAudits(controls: AuditSums[]): AuditSums {
  return controls.reduce((sums, { count, sum }) => ({ count: sums.count + count, sum: sums.sum + sum }), {
    count: 0,
    sum: 0,
  })
}

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
/** The most useful warning comes first. */
export function listWarnings(
  windows: Readonly<Record<string, GroupOutcome[]>>,
  settings: Settings,
  diagnoses = diagnoseTasks(windows),
): RunWarning[] {
  const warnings = Object.entries(windows)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([task, outcomes]) => listTaskWarnings(task, outcomes, settings, diagnoses[task] ?? diagnose(outcomes)))
  return warnings.toSorted((a, b) => MOST_USEFUL_FIRST.indexOf(a.kind) - MOST_USEFUL_FIRST.indexOf(b.kind))
}

/** A hack also looks like a collapse, and its warning names the cure. */
const MOST_USEFUL_FIRST: RunWarning['kind'][] = [
  'hack_gap',
  'permuted',
  'collapsed',
  'signal_without_lift',
  'format_loss',
  'length_growth',
]

/** The warnings of a window, by task and scoring. */
const getKnownWarnings = memoizeByIdentity<readonly GroupOutcome[], Map<string, RunWarning[]>>(() => new Map())

function listTaskWarnings(
  task: string,
  outcomes: readonly GroupOutcome[],
  settings: Settings,
  whole: Diagnosis,
): RunWarning[] {
  const known = getKnownWarnings(outcomes)
  const key = `${task} ${settings.scoring}`
  const warnings = known.get(key) ?? computeTaskWarnings(task, outcomes, settings, whole)
  known.set(key, warnings)
  return warnings
}

function computeTaskWarnings(
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
  // The warnings above also explain why a score is that of guesses.
  const trends = listTrendWarnings(task, outcomes)
  return [...warnings, ...trends.filter(({ kind }) => kind !== 'signal_without_lift' || warnings.length === 0)]
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
function isCollapsing(diagnosis: Diagnosis): boolean {
  const { questions, guess_floor: floor } = diagnosis
  if (floor === null) return hasCollapsed(diagnosis, MIN_QUESTIONS_OF_WARNING, MIN_SHARE_WITHOUT_FLOOR)
  const excess = Math.max(MIN_EXCESS * (1 - floor), 3 * standardErrorOfShare(floor, questions))
  return hasCollapsed(diagnosis, MIN_QUESTIONS_OF_WARNING, Math.min(1, Math.max(MIN_SHARE, floor + excess)))
}

function explainCollapsing(task: string, { top_answer, questions, mean_score, guess_floor }: Diagnosis): string {
  const share = Math.round((top_answer?.share ?? 0) * 100)
  return `${share}% of the answers to ${questions} different questions of ${task} are ${quote(top_answer?.text)}: the policy is collapsing onto the most common answer (mean score ${formatScore(mean_score)}, guess floor ${formatScore(guess_floor)}).`
}

interface CollapsedEnd {
  task: string
  /** The groups at the end that share one answer. */
  groups: readonly GroupOutcome[]
  diagnosis: Diagnosis
}

/** Finds the tasks whose latest groups, of those that `includes` accepts, share one answer. */
function listCollapsedEnds(
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

function explainCollapsedEnd({ task, groups, diagnosis }: CollapsedEnd): string {
  const { top_answer, questions, mean_score, guess_floor } = diagnosis
  return `${groups.length} groups of ${task}, on ${questions} different questions, all answer ${quote(top_answer?.text)}: the policy has collapsed onto the most common answer (mean score ${formatScore(mean_score)}, guess floor ${formatScore(guess_floor)})`
}

function standardErrorOfShare(share: number, count: number): number {
  return Math.sqrt((share * (1 - share)) / count)
}

function quote(text: string | undefined): string {
  return JSON.stringify(text ?? '')
}

function formatScore(value: number | null): string {
  return value === null ? 'unknown' : value.toFixed(2)
}

const REASONS: Record<Exclude<OutcomeKind, 'signal'>, string> = {
  easy: 'every rollout is correct: the tasks are too easy',
  hard: 'every rollout is wrong: the tasks are too hard, or the answers miss the format',
  masked: 'every rollout is truncated and masked',
  lone_voter: 'one rollout is left to compare: the others are truncated and masked, too short, or unscored',
  skipped: 'every rollout has fewer than min_trained_tokens and is skipped',
}

/** `count` is the number of consecutive groups without signal. Only those in the windows are known. */
export function explainMissingSignal(windows: Readonly<Record<string, GroupOutcome[]>>, count: number): string {
  const recent = mergeWindows(windows).slice(-count)
  // after a checkpoint is restored, the windows are empty
  if (recent.length === 0) return 'all rewards in a group are equal'
  const known = new Set(recent)
  const ends = listCollapsedEnds(windows, (outcome) => known.has(outcome))
  const [largest] = ends.toSorted((a, b) => b.groups.length - a.groups.length)
  const collapsed = ends.reduce((sum, { groups }) => sum + groups.length, 0)
  if (largest && 2 * collapsed > recent.length) return explainCollapsedEnd(largest)
  const counts = Map.groupBy(recent, ({ kind }) => kind)
  const [top] = [...counts].toSorted(([, a], [, b]) => b.length - a.length)
  if (!top || top[0] === 'signal') return 'all rewards in a group are equal'
  const [kind, groups] = top
  const isEach = groups.length === count
  return `in ${isEach ? 'all of them' : `${groups.length} of the last ${recent.length}`}, ${REASONS[kind]}`
}
