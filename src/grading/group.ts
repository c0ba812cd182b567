/**
 * Grades a group from the verdicts of its rollouts: counted rollouts, voters, penalties, signal and advantages.
 *
 *   counted = scored and not skipped as too short      → mean_score, percent_correct, curriculum
 *   voters  = counted and not masked as truncated      → mean_reward, std_reward, signal, advantages
 *
 * One voter has nothing to be compared with. Alone in a group that was posted with one rollout, it has signal, and its
 * reward is its advantage. Left over in a larger group it has no signal and advantage 0: rewards without a baseline, of the
 * groups that happened to lose the other voters, would push the policy in one direction.
 */
import type { Destination, Group } from '@reasoning-gym-server/contract/rollout'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { GroupVerdict, Verdict } from '@reasoning-gym-server/contract/verdict'
import { computeAdvantages } from './advantages.ts'
import { dapoLengthPenalty, originalLengthPenalty, type RolloutMeasures } from './length-penalty.ts'
import { mean, populationStd } from './statistics.ts'

export type GroupScoringRules = Pick<
  RunSettings,
  | 'max_token_length'
  | 'length_penalty'
  | 'mask_too_long_completions'
  | 'min_trained_tokens'
  | 'advantage'
  | 'drop_equal_scores'
  | 'signal_on'
>

export type GroupResult = Omit<Group, 'group_id' | 'run' | 'item_id' | 'task' | 'difficulty'> & {
  verdicts: GroupVerdict[]
}

type ScoredGroupVerdict = Extract<GroupVerdict, { status: 'scored' }>

/** The minimum score of a completion, or mean score of a group, that counts as correct. */
export const TRAINING_CORRECT_THRESHOLD = 0.5

/** `verdicts` are in the order of `rollouts`, before penalties. With `buffer`, the group waits for a trainer. */
export function gradeGroup(
  rollouts: RolloutMeasures[],
  verdicts: Verdict[],
  rules: GroupScoringRules,
  buffer: boolean,
): GroupResult {
  const entries = verdicts.map((verdict, k) => applyMarks(verdict, rollouts[k], rules))
  const unscored = entries.find(({ verdict }) => verdict.status === 'unscored')?.verdict
  const counted = entries.filter(
    (entry): entry is CountedRollout => entry.verdict.status === 'scored' && !entry.verdict.skipped,
  )
  const penalized = applyLengthPenalty(entries, counted, rules, unscored === undefined)
  const voters = counted.map(({ verdict }) => verdict).filter((verdict) => !verdict.masked)
  const rewards = voters.map(({ reward }) => reward)
  const isComparable = voters.length > 1 || rollouts.length === 1
  const signal =
    isComparable && hasSignal(voters.map((voter) => (rules.signal_on === 'score' ? voter.score : voter.reward)))
  const advantages = isComparable ? computeAdvantages(rewards, rules.advantage) : []
  voters.forEach((voter, k) => {
    voter.advantage = advantages[k] ?? 0
  })
  const scores = counted.map(({ verdict }) => verdict.score)
  const withLength = entries.filter(({ length }) => length !== undefined).length
  const failed = unscored?.status === 'unscored' && entries.every(({ verdict }) => verdict.status === 'unscored')
  return {
    status: failed ? 'failed' : 'scored',
    verdicts: entries.map(({ verdict }) => verdict),
    mean_score: computeOrNull(scores, mean),
    mean_reward: computeOrNull(rewards, mean),
    std_reward: computeOrNull(rewards, populationStd),
    percent_correct: computeOrNull(
      scores,
      (all) => all.filter((score) => score >= TRAINING_CORRECT_THRESHOLD).length / all.length,
    ),
    voters: voters.length,
    lengths: withLength === entries.length ? 'all' : withLength > 0 ? 'some' : 'none',
    length_penalty: penalized,
    signal,
    destination: failed ? null : chooseDestination(counted.length, signal, rules, buffer),
    ...(failed && { code: unscored.code, detail: unscored.detail }),
  }
}

interface CountedRollout {
  verdict: ScoredGroupVerdict
  length: number | undefined
}

function applyMarks(
  verdict: Verdict,
  rollout: RolloutMeasures | undefined,
  rules: GroupScoringRules,
): { verdict: GroupVerdict; length: number | undefined } {
  const { trained, length } = rollout ?? {}
  const marks = {
    ...(trained !== undefined && trained < rules.min_trained_tokens && { skipped: 'too_short' as const }),
    ...(rules.mask_too_long_completions && rollout?.finish_reason === 'length' && { masked: true as const }),
  }
  return verdict.status === 'scored'
    ? { verdict: { ...verdict, ...marks, advantage: 0 }, length }
    : { verdict: { ...verdict, ...marks, advantage: null }, length }
}

/**
 * Lowers rewards for length and returns whether it lowered any. The original rule applies only if every rollout is scored
 * and every counted one is correct.
 */
function applyLengthPenalty(
  entries: { verdict: GroupVerdict; length: number | undefined }[],
  counted: CountedRollout[],
  rules: GroupScoringRules,
  allScored: boolean,
): boolean {
  const kind = rules.length_penalty
  if (kind === false) return false
  if (kind === true) {
    const applies =
      allScored &&
      counted.every(({ verdict, length }) => verdict.score >= TRAINING_CORRECT_THRESHOLD && length !== undefined)
    if (!applies) return false
    return counted
      .map(({ verdict, length }) =>
        deductPenalty(verdict, originalLengthPenalty(verdict.score, length ?? 0, rules.max_token_length)),
      )
      .includes(true)
  }
  return entries
    .map(({ verdict, length }) => {
      if (verdict.status !== 'scored' || length === undefined) return false
      return deductPenalty(verdict, dapoLengthPenalty(length, rules.max_token_length, kind))
    })
    .includes(true)
}

function deductPenalty(verdict: ScoredGroupVerdict, penalty: number): boolean {
  verdict.penalty = penalty
  verdict.reward = verdict.score - penalty
  return penalty > 0
}

/** Equal values carry no signal; a single one does. */
function hasSignal(values: number[]): boolean {
  return values.length === 1 || values.some((value) => value !== values[0])
}

function chooseDestination(counted: number, signal: boolean, rules: GroupScoringRules, buffer: boolean): Destination {
  if (counted === 0) return 'skipped'
  if (!signal && rules.drop_equal_scores) return 'no_signal'
  return buffer ? 'buffered' : 'not_buffered'
}

function computeOrNull(values: number[], statistic: (values: number[]) => number): number | null {
  return values.length === 0 ? null : statistic(values)
}
