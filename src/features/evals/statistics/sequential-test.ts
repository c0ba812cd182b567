/**
 * A test of paired differences that may be looked at after every pair and stopped at any time: testing by betting
 * (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", arXiv 2010.09686).
 *
 * A bookmaker who claims that the mean difference is at most m offers bets; a gambler stakes a share of the wealth on each pair.
 * If m is right, the wealth is a supermartingale: it reaches w times its start with probability 1/w at most, however long one
 * plays (Ville 1939). The gambler plays several shares side by side and counts their mean. It needs no distribution, only that
 * differences lie in [−1, 1] and that the next one has the same mean whatever came before.
 */

/** Shares of the most that can be staked without risking everything. */
const STAKES = [0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.6, 0.8, 0.95]
const BISECTIONS = 40

export type SequentialDecision = 'a_better' | 'b_better' | 'equivalent'

export interface SequentialTestOptions {
  /** The probability of a false alarm, at most, over all looks together. */
  alpha: number
  /** Differences that are nearer to 0 than this are none. */
  smallestDifference: number
}

/** The wealth of one gambler who bets that the mean is above `bound`, by stake. */
class Wealth {
  readonly #bound: number
  readonly #logs = STAKES.map(() => 0)

  constructor(bound: number) {
    this.#bound = bound
  }

  /** Falls where the difference is below the bound. Never negative: the most that can be lost is the stake. */
  add(difference: number): void {
    const payoff = (difference + 1) / (this.#bound + 1) - 1
    STAKES.forEach((stake, k) => {
      this.#logs[k] = (this.#logs[k] ?? 0) + Math.log1p(stake * payoff)
    })
  }

  get value(): number {
    return this.#logs.reduce((sum, log) => sum + Math.exp(log), 0) / STAKES.length
  }
}

export class SequentialTest {
  readonly #options: SequentialTestOptions
  readonly #differences: number[] = []
  readonly #above = new Wealth(0)
  readonly #below = new Wealth(0)
  readonly #aboveMinus: Wealth
  readonly #belowPlus: Wealth
  #maxEvidence = 1
  #decision: SequentialDecision | undefined

  constructor(options: SequentialTestOptions) {
    this.#options = options
    this.#aboveMinus = new Wealth(-options.smallestDifference)
    this.#belowPlus = new Wealth(-options.smallestDifference)
  }

  /** Undefined while the test goes on. */
  get decision(): SequentialDecision | undefined {
    return this.#decision
  }

  get pairs(): number {
    return this.#differences.length
  }

  /** Of the hypothesis that there is no difference: how many times the gamblers have multiplied their wealth. */
  get eValue(): number {
    return (this.#above.value + this.#below.value) / 2
  }

  /** Holds however often it was looked at. */
  get pValue(): number {
    return 1 / this.#maxEvidence
  }

  /** The score of a minus that of b on the next item. Ignored once the test is decided. */
  add(difference: number): void {
    if (this.#decision) return
    this.#differences.push(difference)
    this.#above.add(difference)
    this.#below.add(-difference)
    this.#aboveMinus.add(difference)
    this.#belowPlus.add(-difference)
    this.#maxEvidence = Math.max(this.#maxEvidence, this.eValue)
    this.#decision = this.#decide()
  }

  /** Holds the true mean with probability 1 − alpha, at every look. Equal pairs give equal intervals. */
  computeInterval(): [number, number] {
    return [
      findLowerBound(this.#differences, 2 / this.#options.alpha),
      -findLowerBound(
        this.#differences.map((value) => -value),
        2 / this.#options.alpha,
      ),
    ]
  }

  /** Each direction has half of alpha. */
  #decide(): SequentialDecision | undefined {
    const needed = 2 / this.#options.alpha
    if (this.#above.value >= needed) return 'a_better'
    if (this.#below.value >= needed) return 'b_better'
    if (this.#aboveMinus.value >= needed && this.#belowPlus.value >= needed) return 'equivalent'
    return undefined
  }
}

/** The largest mean that the bets refute; −1 if they refute none. */
function findLowerBound(differences: readonly number[], needed: number): number {
  const refutes = (bound: number) => {
    const wealth = new Wealth(bound)
    for (const value of differences) wealth.add(value)
    return wealth.value >= needed
  }
  let [low, high] = [-1, 1]
  for (let k = 0; k < BISECTIONS; k++) {
    const middle = (low + high) / 2
    if (refutes(middle)) low = middle
    else high = middle
  }
  return low
}
