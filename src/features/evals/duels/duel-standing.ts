/**
 * Tracks the state of a duel: the test over its items, in order, up to the first incomplete one. The state therefore
 * depends only on the scores, not on the order in which completions arrived.
 */
import type { DuelSpec } from '../generation-job-spec.ts'
import type { SampleVerdict } from '../samples/output.ts'
import { SequentialTest } from '../statistics/sequential-test.ts'

export type DuelPair = [a: SampleVerdict, b: SampleVerdict]

export class DuelStanding {
  readonly test: SequentialTest
  /** Items processed so far, with and without scores. */
  items = 0
  /** Items with scores of both models. */
  pairs = 0

  constructor({ alpha, smallest_difference }: Pick<DuelSpec, 'alpha' | 'smallest_difference'>) {
    this.test = new SequentialTest({ alpha, smallestDifference: smallest_difference })
  }

  /** Adds the next item. An item without a score on both sides is counted but not tested. */
  add([a, b]: DuelPair): void {
    this.items++
    if (a.score === null || b.score === null) return
    this.pairs++
    this.test.add(a.score - b.score)
  }
}

/** Returns undefined until both models have answered. */
export function toDuelPair(verdicts: readonly (SampleVerdict | null | undefined)[]): DuelPair | undefined {
  const [a, b] = verdicts
  return a && b ? [a, b] : undefined
}
