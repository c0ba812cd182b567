/**
 * Computes figures for a window of groups: the diversity of answers, the reward above guessing, and the results of the
 * controls.
 */
import type { Diagnosis } from '@reasoning-gym-server/contract/run'
import { computeLift, entropyOfCounts, meanOfSum, meanOrNull } from '../../../grading/statistics.ts'
import { type AuditSums, type GroupOutcome, OUTCOME_WINDOW } from './group-outcome.ts'

/**
 * Highest guess floor for which lift is computed. Above it, a task has nothing left to learn, and the lift of a single
 * rollout would be noise.
 */

export function isConstant({ scored, answers, distinct }: GroupOutcome): boolean {
  return distinct === 1 && answers > 1 && answers === scored
}

/** Merges the last groups of all tasks, oldest first. */
export function mergeWindows(windows: Readonly<Record<string, GroupOutcome[]>>): GroupOutcome[] {
  return Object.values(windows)
    .flat()
    .toSorted((a, b) => a.completedAt - b.completedAt)
    .slice(-OUTCOME_WINDOW)
}

export function diagnoseTasks(windows: Readonly<Record<string, GroupOutcome[]>>): Record<string, Diagnosis> {
  return Object.fromEntries(Object.entries(windows).map(([task, outcomes]) => [task, diagnose(outcomes)]))
}

/** Diagnoses the outcomes of one task or of several, oldest first. */
export function diagnose(outcomes: readonly GroupOutcome[]): Diagnosis {
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
    hack_gap: meanOfSum(hackGap.sum, hackGap.count),
    hack_gap_answers: hackGap.count,
    permuted_score: meanOfSum(permuted.sum, permuted.count),
    permuted_answers: permuted.count,
  }
}

/**
 * Keeps the last group of each question. A rung may have few distinct questions, and equal answers to the same question
 * say nothing about the policy.
 */
function keepLastOfEachQuestion(outcomes: readonly GroupOutcome[]): GroupOutcome[] {
  return [...new Map(outcomes.map((outcome) => [outcome.question, outcome])).values()]
}

interface AnswersOverQuestions {
  counts: Map<number, number>
  /** Number of answers that count as different from all others. */
  rest: number
  text: string
  share: number
}

function countOverQuestions(outcomes: readonly GroupOutcome[]): AnswersOverQuestions | null {
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
