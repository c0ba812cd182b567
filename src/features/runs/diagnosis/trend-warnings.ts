/**
 * Warnings from the course of a task's scores, formats and lengths over its window: signal that is luck, a format that gets lost, and
 * completions that grow.
 */
import type { RunWarning } from '@reasoning-gym-server/contract/run'
import { mean, sampleVariance } from '../../../grading/statistics.ts'
import type { GroupOutcome } from './group-outcome.ts'

/** Evidence for a warning. A policy above the limit of luck has it in one of a hundred runs, however often one looks. */
const NEEDED_EVIDENCE = 100
/**
 * Limit of a score that is taken for luck: this share of f(1 − f) above the guess floor f. Where guessing earns little,
 * a score slightly above it is no luck.
 */
const LUCK_MARGIN = 0.5
/** Sum of squares at which the test is most powerful: that of about 15 groups of 8. */
const EXPECTED_SQUARES = 0.5
/** Minimum share of groups with signal, and minimum guess floor. Without them, there is nothing that luck earns. */
const MIN_SIGNAL_SHARE = 0.2
const MIN_FLOOR = 0.1
/** Share of what the best guess earns below which answers are no guesses, but wrong. */
const MIN_SHARE_OF_FLOOR = 0.75
/** Minimum number of groups, and the most standard errors by which the second half may score above the first. */
const MIN_GROUPS_OF_LUCK = 20
const MAX_RISE_ERRORS = 2

/** Number of groups at both ends of a window that are compared, and of groups in a window that has two such ends. */
const END_GROUPS = 20
const MIN_GROUPS = 2 * END_GROUPS
/** Minimum loss of format rate: in standard errors, and as a share of the rate before. */
const MIN_FORMAT_LOSS_ERRORS = 3.8
const MIN_FORMAT_LOSS_SHARE = 0.3
/** Factor by which completions must have grown. */
const MIN_GROWTH = 4
/** Minimum number of groups at the end that have earlier ones of like difficulty, and the distance within which it is alike. */
const MIN_LIKE_GROUPS = 10
const LIKE_DIFFICULTY = 0.1

export function listTrendWarnings(task: string, outcomes: readonly GroupOutcome[]): RunWarning[] {
  const warnings = [warnOfLuck(task, outcomes), warnOfFormatLoss(task, outcomes), warnOfGrowth(task, outcomes)]
  return warnings.filter((warning) => warning !== undefined)
}

function warnOfLuck(task: string, outcomes: readonly GroupOutcome[]): RunWarning | undefined {
  if (outcomes.length < MIN_GROUPS_OF_LUCK || measureLuck(outcomes) < NEEDED_EVIDENCE) return undefined
  const signal = mean(outcomes.map(({ kind }) => Number(kind === 'signal')))
  const scores = outcomes.flatMap(({ meanScore }) => meanScore ?? [])
  const guessed = outcomes.reduce((total, outcome) => total + guessedScore(outcome), 0) / scores.length
  if (signal < MIN_SIGNAL_SHARE || mean(scores) < MIN_SHARE_OF_FLOOR * guessed || isRising(scores)) return undefined
  return {
    kind: 'signal_without_lift',
    task,
    why: `The answers to ${task} score no more than guesses over ${outcomes.length} groups, yet the rewards differ in ${Math.round(100 * signal)}% of the groups: the signal is luck.`,
  }
}

/** A policy whose scores rise is learning, even if it still scores as guesses do. */
function isRising(scores: number[]): boolean {
  const middle = Math.floor(scores.length / 2)
  const [before, after] = [scores.slice(0, middle), scores.slice(middle)]
  const error = Math.sqrt(sampleVariance(before) / before.length + sampleVariance(after) / after.length)
  return mean(after) - mean(before) > MAX_RISE_ERRORS * error
}

/**
 * Measures the evidence that the scores are luck, against a policy above the limit: a sequential test of the distances to
 * the limit, normalized by their squares and mixed over the size of the effect (de la Peña et al., 2009).
 */
export function measureLuck(outcomes: readonly GroupOutcome[]): number {
  const distances = outcomes.flatMap((outcome) => {
    const { meanScore, guessFloor } = outcome
    if (meanScore === null || guessFloor === null || guessFloor < MIN_FLOOR) return []
    return guessedScore(outcome) * (1 + LUCK_MARGIN * (1 - guessFloor)) - meanScore
  })
  const total = distances.reduce((all, distance) => all + distance, 0)
  if (total <= 0) return 0
  const squares = EXPECTED_SQUARES + distances.reduce((all, distance) => all + distance ** 2, 0)
  return 2 * Math.sqrt(EXPECTED_SQUARES / squares) * Math.exp(total ** 2 / (2 * squares))
}

/** What the best guess earns if it misses the format as often. */
function guessedScore({ meanScore, guessFloor, answers, scored }: GroupOutcome): number {
  return meanScore === null || guessFloor === null || scored === 0 ? 0 : guessFloor * (answers / scored)
}

function warnOfFormatLoss(task: string, outcomes: readonly GroupOutcome[]): RunWarning | undefined {
  const [before, after] = compareEnds(outcomes, ({ answers, scored }) => (scored > 0 ? answers / scored : null))
  if (before === undefined || after === undefined) return undefined
  const answers = END_GROUPS * mean(outcomes.map(({ scored }) => scored))
  const error = Math.sqrt((before * (1 - before) + after * (1 - after)) / answers)
  const loss = before - after
  if (loss <= 0 || loss < Math.max(MIN_FORMAT_LOSS_ERRORS * error, MIN_FORMAT_LOSS_SHARE * before)) return undefined
  return {
    kind: 'format_loss',
    task,
    why: `The share of completions of ${task} with an answer in the right format fell from ${before.toFixed(2)} to ${after.toFixed(2)} over ${outcomes.length} groups.`,
  }
}

function warnOfGrowth(task: string, outcomes: readonly GroupOutcome[]): RunWarning | undefined {
  const groups = outcomes.flatMap(({ meanLength: length, difficulty }) =>
    length === null ? [] : { length, difficulty: difficulty ?? 0 },
  )
  if (groups.length < MIN_GROUPS) return undefined
  const first = groups.slice(0, END_GROUPS)
  // Harder items have longer answers, so that groups are compared with earlier ones that were no easier.
  const pairs = groups.slice(-END_GROUPS).flatMap(({ length, difficulty }) => {
    const alike = first.filter((group) => group.difficulty >= difficulty - LIKE_DIFFICULTY)
    return alike.length === 0 ? [] : { before: mean(alike.map((group) => group.length)), after: length }
  })
  const [before, after] = [mean(pairs.map((pair) => pair.before)), mean(pairs.map((pair) => pair.after))]
  if (pairs.length < MIN_LIKE_GROUPS || before === 0 || after < MIN_GROWTH * before) return undefined
  return {
    kind: 'length_growth',
    task,
    why: `The mean length of the completions of ${task} grew from ${Math.round(before)} to ${Math.round(after)} tokens over ${outcomes.length} groups, at the same difficulty.`,
  }
}

/** Returns the means of the first and the last groups, and nothing if the window is short or a figure is missing. */
function compareEnds(
  outcomes: readonly GroupOutcome[],
  figure: (outcome: GroupOutcome) => number | null,
): [before?: number, after?: number] {
  const figures = outcomes.flatMap((outcome) => figure(outcome) ?? [])
  if (figures.length < MIN_GROUPS) return []
  return [mean(figures.slice(0, END_GROUPS)), mean(figures.slice(-END_GROUPS))]
}
