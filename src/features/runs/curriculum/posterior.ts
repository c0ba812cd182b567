/**
 * The frontier of a task: where on its ladder a model stands, and how steeply its success falls there. It is a posterior
 * over
 *
 *     success(difficulty) = floor + (1 − floor) × q,    q = 1 / (1 + exp(−slope × (place − difficulty)))
 *
 * on a grid of places and slopes. `floor` is what guessing earns on the rung, so a model that only guesses does not move
 * the posterior. Every group counts at the actual difficulty of its item. All functions are pure: the same groups in the
 * same order give the same state.
 */
import { LRUCache } from 'lru-cache'

const PLACES = Array.from({ length: 46 }, (_, k) => -0.4 + (1.8 * k) / 45)
const SLOPES = [4, 8, 14, 22]
const CELLS = PLACES.flatMap((place) => SLOPES.map((slope) => ({ place, slope })))

/** Prior over places: a normal distribution around the middle of the ladder. */
const PRIOR = { mean: 0.5, standardDeviation: 0.3 }
/** Mean and standard deviation of how far the place moves from group to group while the model learns. */
const DRIFT = { mean: 0.001, standardDeviation: 0.012 }
/**
 * Limit of independent rollouts that one group counts as. Rollouts of one item are correlated, so more of them add no
 * information.
 */
const MAX_EFFECTIVE_ROLLOUTS = 8
/** Lower bound of the failure probability. A single failure must not rule out a place. */
const MIN_FAILURE = 0.001
/** Maximum of the integer weights. Rounding to integers keeps states short and equal on every machine. */
const WEIGHT_SCALE = 10_000
/**
 * Share by which another rung must be better to replace the current one. A change discards the items that were made
 * ahead.
 */
const HYSTERESIS = 0.02

/** Weights of the grid cells, slopes within places. The largest weight is WEIGHT_SCALE. */
export type FrontierWeights = readonly number[]
export const FRONTIER_CELLS = CELLS.length
export { WEIGHT_SCALE as MAX_FRONTIER_WEIGHT }

export interface FrontierRung {
  difficulty: number
  /** Expected score of the best guess. */
  floor: number
}

interface FrontierEvidence {
  score: number
  rollouts: number
  rung: FrontierRung
}

interface FrontierEstimate {
  /** Difficulty at which the model solves half of the items beyond guessing. It may lie off the ladder. */
  place: number
  /** Central interval that holds 90% of the probability. */
  interval: [low: number, high: number]
  slope: number
}

export function createFrontier(): FrontierWeights {
  return normalize(CELLS.map(({ place }) => Math.exp(-0.5 * ((place - PRIOR.mean) / PRIOR.standardDeviation) ** 2)))
}

/** Returns the posterior after a group of a model in training. */
export function updateFrontier(weights: FrontierWeights, evidence: FrontierEvidence): FrontierWeights {
  return observeGroup(drift(weights), evidence)
}

/**
 * Returns the posterior after a group of a model that has not changed since the previous group. `minFailure` is the
 * lowest probability of a failure and of a success.
 */
export function observeGroup(
  weights: FrontierWeights,
  { score, rollouts, rung }: FrontierEvidence,
  minFailure = MIN_FAILURE,
): FrontierWeights {
  const effective = Math.min(rollouts, MAX_EFFECTIVE_ROLLOUTS)
  const success = Math.min(Math.max(score, 0), 1)
  const solveRates = getSolveRates(rung.difficulty)
  return normalize(
    weights.map((weight, k) => {
      const expected = rung.floor + (1 - rung.floor) * (solveRates[k] ?? 0)
      const bounded = Math.min(Math.max(expected, minFailure), 1 - minFailure)
      return weight * Math.exp(effective * (success * Math.log(bounded) + (1 - success) * Math.log(1 - bounded)))
    }),
  )
}

/**
 * Chooses the next rung: the one with the highest expected q(1 − q) or, with a target, the one whose expected q is
 * nearest to it. Keeps `current` unless another rung is clearly better. Throws if there are no rungs.
 */
export function chooseRung(
  weights: FrontierWeights,
  rungs: readonly FrontierRung[],
  { target, current }: { target?: number | undefined; current?: FrontierRung | undefined } = {},
): FrontierRung {
  const values = rungs.map((rung) => computeValue(weights, rung, target))
  const best = values.reduce((top, value, k) => (value > (values[top] ?? 0) ? k : top), 0)
  const currentValue = values[rungs.findIndex((rung) => rung.difficulty === current?.difficulty)]
  if (current && currentValue !== undefined && (values[best] ?? 0) <= currentValue * (1 + HYSTERESIS)) return current
  const chosen = rungs[best]
  if (!chosen) throw new RangeError('a ladder needs a rung')
  return chosen
}

export function estimateFrontier(weights: FrontierWeights): FrontierEstimate {
  const byPlace = PLACES.map((_, k) => sum(weights.slice(k * SLOPES.length, (k + 1) * SLOPES.length)))
  const total = sum(byPlace)
  return {
    place: sum(byPlace.map((weight, k) => weight * (PLACES[k] ?? 0))) / total,
    interval: [findQuantile(byPlace, 0.05), findQuantile(byPlace, 0.95)],
    slope: sum(weights.map((weight, k) => weight * (CELLS[k]?.slope ?? 0))) / total,
  }
}

/** Lists the probability of each place on the grid, from easy to hard. */
export function listPlaces(weights: FrontierWeights): { place: number; probability: number }[] {
  const total = sum(weights)
  return PLACES.map((place, k) => ({
    place,
    probability: sum(weights.slice(k * SLOPES.length, (k + 1) * SLOPES.length)) / total,
  }))
}

/** Caches q for each cell: the share of items solved beyond guessing. Ladders have few difficulties. */
const solveRatesByDifficulty = new LRUCache<number, Float64Array>({ max: 1000 })

export function getSolveRates(difficulty: number): Float64Array {
  const known = solveRatesByDifficulty.get(difficulty)
  if (known) return known
  const rates = Float64Array.from(CELLS, ({ place, slope }) => 1 / (1 + Math.exp(-slope * (place - difficulty))))
  solveRatesByDifficulty.set(difficulty, rates)
  return rates
}

/** Spreads the weight of each place to its neighbors, slightly more to the harder one. */
function drift(weights: FrontierWeights): number[] {
  const spacing = (PLACES[1] ?? 0) - (PLACES[0] ?? 0)
  const share = DRIFT.standardDeviation ** 2 / (2 * spacing ** 2)
  const up = DRIFT.mean / spacing
  const width = SLOPES.length
  return weights.map((weight, k) => {
    const below = weights[k - width] ?? weight
    const above = weights[k + width] ?? weight
    return weight * (1 - 2 * share - up) + below * (share + up) + above * share
  })
}

function normalize(weights: readonly number[]): number[] {
  const largest = Math.max(...weights)
  return weights.map((weight) => (largest > 0 ? Math.round((weight / largest) * WEIGHT_SCALE) : 1))
}

function computeValue(weights: FrontierWeights, { difficulty }: FrontierRung, target: number | undefined): number {
  let total = 0
  let solved = 0
  let variance = 0
  const solveRates = getSolveRates(difficulty)
  for (const [k, weight] of weights.entries()) {
    const q = solveRates[k] ?? 0
    total += weight
    solved += weight * q
    variance += weight * q * (1 - q)
  }
  return target === undefined ? variance / total : 1 - Math.abs(solved / total - target)
}

function findQuantile(byPlace: readonly number[], share: number): number {
  const wanted = share * sum(byPlace)
  let reached = 0
  const k = byPlace.findIndex((weight) => {
    reached += weight
    return reached >= wanted
  })
  return PLACES[k] ?? 0
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
