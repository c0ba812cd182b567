/**
 * How a duel stands: the test over its items in their order, up to the first that is not complete. So it depends on the scores
 * alone, and not on the order in which completions came.
 */
import type { DuelSpec } from '../generation-job-spec.ts'
import type { SampleVerdict } from '../sample-output.ts'
import { SequentialTest } from '../statistics/sequential-test.ts'

export type DuelPair = [a: SampleVerdict, b: SampleVerdict]

export class DuelStanding {
  readonly test: SequentialTest
  /** Items that were looked at, with and without scores. */
  items = 0

  constructor({ alpha, smallest_difference }: Pick<DuelSpec, 'alpha' | 'smallest_difference'>) {
    this.test = new SequentialTest({ alpha, smallestDifference: smallest_difference })
  }

  /** Takes the next item. Without a score on both sides it says nothing. */
  add([a, b]: DuelPair): void {
    this.items++
    if (a.score !== null && b.score !== null) this.test.add(a.score - b.score)
  }
}

/** Undefined until both models have answered. */
export function toDuelPair(verdicts: readonly (SampleVerdict | null | undefined)[]): DuelPair | undefined {
  const [a, b] = verdicts
  return a && b ? [a, b] : undefined
}
