/** Penalties for the length of a completion in tokens. Lengths are counted, never estimated from characters. */

import { countNumbers } from '@reasoning-gym-server/codec/typed-arrays'
import { countTrainedTokens, type Rollout } from '@reasoning-gym-server/contract/rollout'

/** What the group rules need to know about a rollout besides its verdict. */
export interface RolloutMeasures {
  /** In tokens. */
  length?: number | undefined
  trained?: number | undefined
  finish_reason?: string | null | undefined
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
