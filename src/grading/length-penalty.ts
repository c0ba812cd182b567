/** What a completion's length in tokens costs. Lengths are counted, never guessed from characters. */

import { countNumbers } from '../codec/typed-arrays.ts'
import { countTrainedTokens, type Rollout } from '../contract/rollout.ts'

/** What the rules of a group want to know of a rollout, besides its verdict. */
export interface RolloutMeasures {
  /** Tokens. */
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
 * The original environment's penalty: with T = 0.75 · M, a score beyond T tokens shrinks linearly, to 0 at M.
 * @returns what is taken off the score.
 */
export function originalLengthPenalty(score: number, length: number, maxTokenLength: number): number {
  const free = 0.75 * maxTokenLength
  return length <= free ? 0 : score * Math.min((length - free) / (maxTokenLength - free), 1)
}

/**
 * Soft over-long punishment of DAPO (arXiv 2503.14476, equation 13), bounded at `factor` for whatever is over M.
 * @returns what is taken off the score.
 */
export function dapoLengthPenalty(
  length: number,
  maxTokenLength: number,
  { buffer, factor }: { buffer: number; factor: number },
): number {
  const over = length - (maxTokenLength - buffer)
  return over <= 0 ? 0 : Math.min(over / buffer, 1) * factor
}
