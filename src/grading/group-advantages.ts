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

import { countNumbers } from '@reasoning-gym-server/codec/typed-arrays'
import { countTrainedTokens, type Destination, type Group, type Rollout } from '@reasoning-gym-server/contract/rollout'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { GroupVerdict, Verdict } from '@reasoning-gym-server/contract/verdict'
import { isCutOff } from './finish-reason.ts'
import { mean, meanOfSum, meanOrNull, populationStd, sampleStd } from './statistics.ts'
import { discountReward } from './tries.ts'
import { TRAINING_CORRECT_THRESHOLD } from './verdict.ts'

/** What the group rules need to know about a rollout besides its verdict. */
export interface RolloutMeasures {
  /** In tokens. */
  length?: number | undefined
  trained?: number | undefined
  finish_reason?: string | null | undefined
}

interface MeasuredVerdict {
  verdict: GroupVerdict
  length: number | undefined
}

type ScoredGroupVerdict = Extract<GroupVerdict, { status: 'scored' }>
/** A rollout that is scored and not skipped as too short. */
type CountedRollout = MeasuredVerdict & { verdict: ScoredGroupVerdict }

export type GroupScoringRules = Pick<
  RunSettings,
  | 'max_token_length'
  | 'length_penalty'
  | 'mask_too_long_completions'
  | 'min_trained_tokens'
  | 'advantage'
  | 'drop_equal_scores'
  | 'signal_on'
  | 'try_discount'
>

export type GroupResult = Omit<Group, 'group_id' | 'run' | 'item_id' | 'task' | 'difficulty'> & {
  verdicts: GroupVerdict[]
}

/** Keeps the advantage finite where rewards are nearly equal. */
const STD_FLOOR = 1e-4

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
  for (const { verdict } of entries) if (verdict.status === 'scored') discountReward(verdict, rules.try_discount)
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
    mean_score: meanOrNull(scores),
    mean_reward: meanOrNull(rewards),
    std_reward: rewards.length === 0 ? null : populationStd(rewards),
    percent_correct: meanOfSum(scores.filter((score) => score >= TRAINING_CORRECT_THRESHOLD).length, scores.length),
    ...(counted.some(({ verdict }) => verdict.turns) && { percent_correct_first_try: computeFirstTryShare(counted) }),
    voters: voters.length,
    lengths: withLength === entries.length ? 'all' : withLength > 0 ? 'some' : 'none',
    length_penalty: penalized,
    signal,
    destination: failed ? null : chooseDestination(counted.length, signal, rules, buffer),
    ...(failed && { code: unscored.code, detail: unscored.detail }),
  }
}

function computeFirstTryShare(counted: readonly CountedRollout[]): number {
  const firstScores = counted.map(({ verdict }) => verdict.turns?.[0]?.score ?? verdict.score)
  return firstScores.filter((score) => score >= TRAINING_CORRECT_THRESHOLD).length / counted.length
}

function applyMarks(verdict: Verdict, rollout: RolloutMeasures | undefined, rules: GroupScoringRules): MeasuredVerdict {
  const { trained, length } = rollout ?? {}
  const marks = {
    ...(trained !== undefined && trained < rules.min_trained_tokens && { skipped: 'too_short' as const }),
    ...(rules.mask_too_long_completions && isCutOff(rollout?.finish_reason) && { masked: true as const }),
  }
  return verdict.status === 'scored'
    ? { verdict: { ...verdict, ...marks, advantage: 0 }, length }
    : { verdict: { ...verdict, ...marks, advantage: null }, length }
}

/** One advantage for each reward. The only rollout of a group has no baseline, so its advantage is its reward. */
function computeAdvantages(rewards: number[], kind: RunSettings['advantage']): number[] {
  const n = rewards.length
  if (n === 1 || kind === 'none') return rewards
  const center = mean(rewards)
  switch (kind) {
    case 'mean':
      return rewards.map((reward) => reward - center)
    case 'mean_std': {
      const std = sampleStd(rewards)
      return rewards.map((reward) => (reward - center) / (std + STD_FLOOR))
    }
    case 'leave_one_out':
      return rewards.map((reward) => ((reward - center) * n) / (n - 1))
  }
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

/**
 * Lowers rewards for the length of completions in tokens, which is counted and never estimated from characters, and returns whether it lowered any. The rule of the original environment (`true`) applies to
 * the counted rollouts, and only if every rollout is scored and every counted one is correct and has a length. The rule of
 * DAPO (an object) applies to each scored rollout with a length.
 */
function applyLengthPenalty(
  entries: MeasuredVerdict[],
  counted: CountedRollout[],
  { length_penalty: kind, max_token_length }: Pick<RunSettings, 'length_penalty' | 'max_token_length'>,
  allScored: boolean,
): boolean {
  if (kind === false) return false
  if (kind === true) {
    const isApplicable =
      allScored &&
      counted.every(({ verdict, length }) => verdict.score >= TRAINING_CORRECT_THRESHOLD && length !== undefined)
    if (!isApplicable) return false
    return deductPenalties(counted, (score, length) => originalLengthPenalty(score, length, max_token_length))
  }
  return deductPenalties(entries, (_, length) => dapoLengthPenalty(length, max_token_length, kind))
}

/** Returns whether any reward is lower now. */
function deductPenalties(entries: MeasuredVerdict[], penaltyOf: (score: number, length: number) => number): boolean {
  let isAnyLower = false
  for (const { verdict, length } of entries) {
    if (verdict.status !== 'scored' || length === undefined) continue
    const penalty = penaltyOf(verdict.score, length)
    verdict.components = { ...verdict.components, length_penalty: 0 - penalty } // never -0
    verdict.reward = verdict.score - penalty
    isAnyLower ||= penalty > 0
  }
  return isAnyLower
}

export function measureRollout(rollout: Rollout): RolloutMeasures {
  const trained = getTrainedTokens(rollout)
  return { length: rollout.length_tokens ?? trained, trained, finish_reason: rollout.finish_reason }
}

/** Trained tokens of a rollout; undefined if it has neither masks nor tokens. */
function getTrainedTokens(rollout: Rollout): number | undefined {
  if (rollout.masks !== undefined) return countTrainedTokens(rollout.masks)
  return rollout.tokens === undefined ? undefined : countNumbers(rollout.tokens)
}

/**
 * The penalty of the original environment: beyond T = 0.75 · M tokens, the score shrinks linearly and reaches 0 at M.
 * @returns the amount to subtract from the score.
 */
function originalLengthPenalty(score: number, length: number, maxTokenLength: number): number {
  const penaltyFree = 0.75 * maxTokenLength
  return length <= penaltyFree ? 0 : score * Math.min((length - penaltyFree) / (maxTokenLength - penaltyFree), 1)
}

/**
 * Soft overlong punishment of DAPO (arXiv 2503.14476, equation 13), at most `factor` for lengths over M.
 * @returns the amount to subtract from the score.
 */
function dapoLengthPenalty(
  length: number,
  maxTokenLength: number,
  { buffer, factor }: { buffer: number; factor: number },
): number {
  const excess = length - (maxTokenLength - buffer)
  return excess <= 0 ? 0 : Math.min(excess / buffer, 1) * factor
}
