/**
 * The truth table of a verifier: how often it calls right answers right and wrong answers right, and Youden's J, the difference
 * of the two. Learning from its rewards goes the right way only if J is above 0 (arXiv 2601.04411).
 */
import type { RateInterval, TruthTable } from '@reasoning-gym-server/contract/validation'

const RIGHT_KINDS = ['reference', 'reworded'] as const
const WRONG_KINDS = ['mutated', 'unsolved'] as const
export type AnswerKind = (typeof RIGHT_KINDS)[number] | (typeof WRONG_KINDS)[number]

/** Of each kind: answers, and those that each scoring calls right. */
export type TruthCounts = Record<AnswerKind, { answers: number; upstream: number; hardened: number }>

const Z_95 = 1.959963984540054

/** The Wilson score interval. Without trials, nothing is known: [0, 1]. */
export function estimateRate(successes: number, trials: number): RateInterval {
  if (trials === 0) return { rate: 0, low: 0, high: 1, n: 0 }
  const rate = successes / trials
  const scale = 1 + Z_95 ** 2 / trials
  const center = (rate + Z_95 ** 2 / (2 * trials)) / scale
  const half = (Z_95 / scale) * Math.sqrt((rate * (1 - rate)) / trials + Z_95 ** 2 / (4 * trials ** 2))
  return {
    rate: round(rate),
    low: round(Math.max(0, center - half)),
    high: round(Math.min(1, center + half)),
    n: trials,
  }
}

export function buildTruthTable(counts: TruthCounts, scoring: 'upstream' | 'hardened'): TruthTable {
  const pool = (kinds: readonly AnswerKind[]) =>
    estimateRate(
      kinds.reduce((sum, kind) => sum + counts[kind][scoring], 0),
      kinds.reduce((sum, kind) => sum + counts[kind].answers, 0),
    )
  const [tpr, fpr] = [pool(RIGHT_KINDS), pool(WRONG_KINDS)]
  const kinds = [...RIGHT_KINDS, ...WRONG_KINDS]
  return {
    true_positive_rate: tpr,
    false_positive_rate: fpr,
    youden_j: subtractRates(tpr, fpr),
    by_kind: Object.fromEntries(kinds.map((kind) => [kind, pool([kind])])) as TruthTable['by_kind'], // of all kinds
  }
}

/** Newcombe's interval of a difference of two rates (his method 10), from their Wilson intervals. */
function subtractRates(a: RateInterval, b: RateInterval): TruthTable['youden_j'] {
  const value = a.rate - b.rate
  return {
    value: round(value),
    low: round(value - Math.hypot(a.rate - a.low, b.high - b.rate)),
    high: round(value + Math.hypot(a.high - a.rate, b.rate - b.low)),
  }
}

const round = (value: number) => Number(value.toFixed(4))
