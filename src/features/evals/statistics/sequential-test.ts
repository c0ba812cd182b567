/**
 * Tests paired differences sequentially: the test may be checked after every pair and stopped at any time. It is
 * testing by betting (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", arXiv
 * 2010.09686).
 *
 * A bookmaker who claims that the mean difference is at most m offers bets; a gambler stakes a share of the wealth on
 * each pair. If m is right, the wealth is a supermartingale: it reaches w times its start with probability 1/w at most,
 * however long the game lasts (Ville 1939). The gambler plays several stakes side by side and averages their wealth.
 * The test assumes no distribution, only that differences lie in [−1, 1] and that the next one has the same mean
 * whatever came before.
 */

/** Stakes, as shares of the highest one that does not risk everything. */
const STAKES = [0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.6, 0.8, 0.95]
const BISECTIONS = 40

type SequentialDecision = 'a_better' | 'b_better' | 'equivalent'

interface SequentialTestOptions {
  /** Upper limit of the probability of a false alarm, over all checks together. */
  alpha: number
  /** Size below which a difference counts as none. */
  smallestDifference: number
}

/** Wealth of one gambler, for each stake, who bets that the mean is above `bound`. */
class Wealth {
  readonly #bound: number
  readonly #logs = STAKES.map(() => 0)

  constructor(bound: number) {
    this.#bound = bound
  }

  /**
   * Updates the wealth, which falls if the difference is below the bound. It is never negative: the most that can be
   * lost is the stake.
   */
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

  /** Decision, or undefined while the test continues. */
  get decision(): SequentialDecision | undefined {
    return this.#decision
  }

  get pairs(): number {
    return this.#differences.length
  }

  /**
   * Evidence against the hypothesis of no difference: the factor by which the gamblers have multiplied their wealth.
   */
  get eValue(): number {
    return (this.#above.value + this.#below.value) / 2
  }

  /** p-value that is valid at every check, however many there are. */
  get pValue(): number {
    return 1 / this.#maxEvidence
  }

  /** Adds the score of a minus that of b on the next item. Ignored once the test is decided. */
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

  /**
   * Returns an interval that contains the true mean with probability 1 − alpha at every check. Equal pairs give equal
   * intervals.
   */
  computeInterval(): [number, number] {
    return [
      findLowerBound(this.#differences, 2 / this.#options.alpha),
      -findLowerBound(
        this.#differences.map((value) => -value),
        2 / this.#options.alpha,
      ),
    ]
  }

  /** Decides the test; each direction has half of alpha. */
  #decide(): SequentialDecision | undefined {
    const needed = 2 / this.#options.alpha
    if (this.#above.value >= needed) return 'a_better'
    if (this.#below.value >= needed) return 'b_better'
    if (this.#aboveMinus.value >= needed && this.#belowPlus.value >= needed) return 'equivalent'
    return undefined
  }
}

/** Returns the largest mean that the bets refute; −1 if they refute none. */
function findLowerBound(differences: readonly number[], needed: number): number {
  const refutes = (bound: number) => {
    const wealth = new Wealth(bound)
    for (const value of differences) wealth.add(value)
    return wealth.value >= needed
  }
  let low = -1
  let high = 1
  for (let k = 0; k < BISECTIONS; k++) {
    const middle = (low + high) / 2
    if (refutes(middle)) low = middle
    else high = middle
  }
  return low
}
