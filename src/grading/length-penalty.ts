/**
 * Penalties for the length of a completion in tokens: when they apply, to which rollouts, and how much they take. Lengths
 * are counted, never estimated from characters.
 */
import { countNumbers } from '@reasoning-gym-server/codec/typed-arrays'
import { countTrainedTokens, type Rollout } from '@reasoning-gym-server/contract/rollout'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import { TRAINING_CORRECT_THRESHOLD } from './verdict.ts'

/** What the group rules need to know about a rollout besides its verdict. */
export interface RolloutMeasures {
  /** In tokens. */
  length?: number | undefined
  trained?: number | undefined
  finish_reason?: string | null | undefined
}

export interface MeasuredVerdict {
  verdict: GroupVerdict
  length: number | undefined
}

type ScoredGroupVerdict = Extract<GroupVerdict, { status: 'scored' }>
/** A rollout that is scored and not skipped as too short. */
export type CountedRollout = MeasuredVerdict & { verdict: ScoredGroupVerdict }

/**
 * Lowers rewards for length and returns whether it lowered any. The rule of the original environment (`true`) applies to
 * the counted rollouts, and only if every rollout is scored and every counted one is correct and has a length. The rule of
 * DAPO (an object) applies to each scored rollout with a length.
 */
export function applyLengthPenalty(
  entries: MeasuredVerdict[],
  counted: CountedRollout[],
  { length_penalty: kind, max_token_length }: Pick<RunSettings, 'length_penalty' | 'max_token_length'>,
  allScored: boolean,
): boolean {
  if (kind === false) return false
  if (kind === true) {
    const applies =
      allScored &&
      counted.every(({ verdict, length }) => verdict.score >= TRAINING_CORRECT_THRESHOLD && length !== undefined)
    if (!applies) return false
    return counted
      .map(({ verdict, length }) =>
        deductPenalty(verdict, originalLengthPenalty(verdict.score, length ?? 0, max_token_length)),
      )
      .includes(true)
  }
  return entries
    .map(({ verdict, length }) => {
      if (verdict.status !== 'scored' || length === undefined) return false
      return deductPenalty(verdict, dapoLengthPenalty(length, max_token_length, kind))
    })
    .includes(true)
}

/** Returns whether the reward is lower now. */
function deductPenalty(verdict: ScoredGroupVerdict, penalty: number): boolean {
  verdict.penalty = penalty
  verdict.reward = verdict.score - penalty
  return penalty > 0
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
export function originalLengthPenalty(score: number, length: number, maxTokenLength: number): number {
  const penaltyFree = 0.75 * maxTokenLength
  return length <= penaltyFree ? 0 : score * Math.min((length - penaltyFree) / (maxTokenLength - penaltyFree), 1)
}

/**
 * Soft overlong punishment of DAPO (arXiv 2503.14476, equation 13), at most `factor` for lengths over M.
 * @returns the amount to subtract from the score.
 */
export function dapoLengthPenalty(
  length: number,
  maxTokenLength: number,
  { buffer, factor }: { buffer: number; factor: number },
): number {
  const excess = length - (maxTokenLength - buffer)
  return excess <= 0 ? 0 : Math.min(excess / buffer, 1) * factor
}
