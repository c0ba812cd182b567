/**
 * The frontier of a task: where on its ladder a model stands, how steeply its success falls there, and its cap. It is a
 * posterior over
 *
 *     success(difficulty) = floor + (1 − floor) × cap × q,    q = 1 / (1 + exp(−slope × (place − difficulty)))
 *
 * on a grid of places, slopes and caps. `floor` is what guessing earns on the rung, so a model that only guesses does not
 * move the posterior. Only answers in the right format count, and the cap is the share of them that can be right without
 * guessing.
 * Every group counts at the actual difficulty of its item. Before it counts, the posterior allows for a model that has
 * moved slightly since the last group, and for one that has changed altogether. All functions are pure: the same groups
 * in the same order give the same state.
 */
import type { FrontierEstimate } from '@reasoning-gym-server/contract/run'
import { LRUCache } from 'lru-cache'

const PLACES = Array.from({ length: 46 }, (_, k) => -0.4 + (1.8 * k) / 45)
/** The negative slope is that of a model that is better on harder rungs. */
const SLOPES = [-5, 2, 5, 12, 30]
const CAPS = [1, 0.7]
/** Distance in the list of cells between neighboring places, and between neighboring slopes. */
const PLACE_STRIDE = SLOPES.length * CAPS.length
const SLOPE_STRIDE = CAPS.length
const SHAPES = PLACES.flatMap((place) => SLOPES.map((slope) => ({ place, slope })))
const CELLS = PLACES.flatMap((place) => SLOPES.flatMap((slope) => CAPS.map((cap) => ({ place, slope, cap }))))

/** Prior over places: a normal distribution around the middle of the ladder. */
const PRIOR = { mean: 0.5, standardDeviation: 0.3, falling: 0.98, caps: [0.9, 0.1] }
/**
 * How far the place moves before a group: mean and standard deviation. A model learns between the steps of its trainer,
 * so the first group of a step counts as more of a move than the others.
 */
const DRIFT = {
  newStep: { mean: 0.003, standardDeviation: 0.018 },
  sameStep: { mean: 0.001, standardDeviation: 0.01 },
  slopeShare: 0.005,
  capShare: 0.0005,
}
/** Probability that the model has changed altogether since the last group, so that its place is that of the prior. */
const CHANGE_PROBABILITY = 0.02
/**
 * Items of a rung differ: the logit of an item's solve rate is normal around that of the rung, with this standard
 * deviation. Three of its points, with their weights, stand for all items (Gauss–Hermite quadrature).
 */
const ITEM_DEVIATION = 0.8
const ITEM_KINDS = [
  { shift: -Math.sqrt(3) * ITEM_DEVIATION, weight: 1 / 6 },
  { shift: 0, weight: 2 / 3 },
  { shift: Math.sqrt(3) * ITEM_DEVIATION, weight: 1 / 6 },
]
/** Probability of negative slopes above which the choice of a rung assumes one. */
const MIN_NEGATIVE_SLOPE = 0.95
/** Lower bound of the failure probability. A single failure must not rule out a place. */
const MIN_FAILURE = 0.001
/** Steps per unit of the natural logarithm to which weights are rounded, and the lowest weight, in steps. */
const LOG_STEPS = 2048
const MAX_LOG_STEPS = 65_535
/**
 * Share by which another rung must be better to replace the current one. A change discards the items that were made
 * ahead.
 */
const HYSTERESIS = 0.02

/** Weights of the grid cells, caps within slopes within places. The largest weight is 1, and none is 0. */
export type FrontierWeights = Float64Array

export interface FrontierRung {
  difficulty: number
  /** Expected score of the best guess. */
  floor: number
}

export interface FrontierEvidence {
  score: number
  rollouts: number
  /** Share of the rollouts that have an answer in the right format; the others earn nothing. All, if undefined. */
  formatted?: number | undefined
  rung: FrontierRung
}

/** Weights by their steps, since an exponential takes longer than a look at 512 KB. */
const WEIGHTS_BY_STEPS = Float64Array.from({ length: MAX_LOG_STEPS + 1 }, (_, steps) => Math.exp(-steps / LOG_STEPS))

const PLACE_DENSITIES = PLACES.map((place) => Math.exp(-0.5 * ((place - PRIOR.mean) / PRIOR.standardDeviation) ** 2))
const PLACE_PRIOR = PLACE_DENSITIES.map((density) => density / sum(PLACE_DENSITIES))
const PRIOR_WEIGHTS = round(
  Float64Array.from(CELLS, ({ slope, cap }, k) => {
    const ofSlope = slope < 0 ? 1 - PRIOR.falling : PRIOR.falling / (SLOPES.length - 1)
    return (PLACE_PRIOR[Math.floor(k / PLACE_STRIDE)] ?? 0) * ofSlope * (PRIOR.caps[CAPS.indexOf(cap)] ?? 0)
  }),
)

/** With `isUncapped`, every answer in the right format can be right: a few answers cannot tell a cap from a place. */
export function createFrontier({ isUncapped = false } = {}): FrontierWeights {
  return isUncapped ? PRIOR_WEIGHTS.map((weight, k) => (CELLS[k]?.cap === 1 ? weight : 0)) : PRIOR_WEIGHTS
}

/** Returns the posterior after a group of a model in training. `isNewStep`: the first group of a trainer's step. */
export function updateFrontier(
  weights: FrontierWeights,
  evidence: FrontierEvidence,
  isNewStep: boolean,
): FrontierWeights {
  return observeGroup(drift(weights, isNewStep ? DRIFT.newStep : DRIFT.sameStep), evidence)
}

/**
 * Returns the posterior after a group of a model that has not changed since the previous group. `minFailure` is the
 * lowest probability of a failure and of a success.
 */
export function observeGroup(
  weights: FrontierWeights,
  { score, rollouts, formatted = 1, rung }: FrontierEvidence,
  minFailure = MIN_FAILURE,
): FrontierWeights {
  const successes = Math.min(Math.max(score, 0), formatted) * rollouts
  const failures = formatted * rollouts - successes
  const kinds = getLogScores(rung, minFailure)
  return round(
    weights.map((weight, k) => {
      let likelihood = 0
      for (const { share, logSuccess, logFailure } of kinds)
        likelihood += share * Math.exp(successes * (logSuccess[k] ?? 0) + failures * (logFailure[k] ?? 0))
      return weight * likelihood
    }),
  )
}

/**
 * Chooses the next rung: the one with the highest expected q(1 − q) or, with a target, the one whose expected q is
 * nearest to it. Keeps `current` unless another rung is clearly better. After a `group` below the target, it chooses no
 * harder rung than `current`, and after one above it no easier one, whatever the weights say. If the slope is very likely
 * negative, the directions change places. Throws if there are no rungs.
 */
export function chooseRung(
  weights: FrontierWeights,
  rungs: readonly FrontierRung[],
  {
    target,
    current,
    group,
  }: { target?: number | undefined; current?: FrontierRung | undefined; group?: FrontierEvidence | undefined } = {},
): FrontierRung {
  const { shapes, isNegative } = sumShapes(weights)
  const side = group ? compareToTarget(group, target) * (isNegative ? -1 : 1) : 0
  const allowed = current ? rungs.filter(({ difficulty }) => side * (difficulty - current.difficulty) >= 0) : rungs
  const values = allowed.map((rung) => computeValue(shapes, rung, target))
  const best = values.reduce((top, value, k) => (value > (values[top] ?? 0) ? k : top), 0)
  const currentValue = values[allowed.findIndex((rung) => rung.difficulty === current?.difficulty)]
  if (current && currentValue !== undefined && (values[best] ?? 0) <= currentValue * (1 + HYSTERESIS)) return current
  const chosen = allowed[best]
  if (!chosen) throw new RangeError('a ladder needs a rung')
  return chosen
}

/**
 * Returns 1 if the group's answers in the right format are right more often than the target beyond guessing, or -1 if
 * less often, also if there are none. Without a target, it is one half.
 */
function compareToTarget({ score, formatted = 1, rung: { floor } }: FrontierEvidence, target = 0.5): number {
  return formatted === 0 ? -1 : Math.sign(score - formatted * (floor + (1 - floor) * target))
}

/** All but the floor, which is that of a rung. */
export function estimateFrontier(
  weights: FrontierWeights,
): Omit<FrontierEstimate, 'floor'> & { interval: [low: number, high: number] } {
  const places = listPlaces(weights)
  const total = sum(weights)
  return {
    place: sum(places.map(({ place, probability }) => place * probability)),
    interval: [findQuantile(places, 0.05), findQuantile(places, 0.95)],
    slope: sum(weights.map((weight, k) => weight * (CELLS[k]?.slope ?? 0))) / total,
    cap: sum(weights.map((weight, k) => weight * (CELLS[k]?.cap ?? 0))) / total,
  }
}

/** Lists the probability of each place on the grid, from easy to hard. */
export function listPlaces(weights: FrontierWeights): { place: number; probability: number }[] {
  const total = sum(weights)
  return PLACES.map((place, k) => ({
    place,
    probability: sum(weights.subarray(k * PLACE_STRIDE, (k + 1) * PLACE_STRIDE)) / total,
  }))
}

/** Formats weights for storage: the steps of each one below the largest, 16 bits each, in base64. */
export function formatWeights(weights: FrontierWeights): string {
  const bytes = Buffer.alloc(2 * weights.length)
  for (const [k, weight] of weights.entries()) bytes.writeUInt16LE(toLogSteps(weight), 2 * k)
  return bytes.toString('base64')
}

/** Returns undefined if the text has no weights of this grid, as that of another version of the server. */
export function parseWeights(text: string): FrontierWeights | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== 2 * CELLS.length || bytes.toString('base64') !== text) return undefined
  return Float64Array.from(CELLS, (_, k) => fromLogSteps(bytes.readUInt16LE(2 * k)))
}

/** Caches q for each place and slope: the share of items solved beyond guessing. Ladders have few difficulties. */
const solveRatesByDifficulty = new LRUCache<number, Float64Array>({ max: 1000 })

function getSolveRates(difficulty: number): Float64Array {
  const known = solveRatesByDifficulty.get(difficulty)
  if (known) return known
  const rates = Float64Array.from(SHAPES, ({ place, slope }) => 1 / (1 + Math.exp(-slope * (place - difficulty))))
  solveRatesByDifficulty.set(difficulty, rates)
  return rates
}

/** Computes the expected score on a rung in each cell, of an item whose logit differs by `shift` from its rung's. */
export function getExpectedScores({ difficulty, floor }: FrontierRung, shift = 0): Float64Array {
  return Float64Array.from(CELLS, ({ place, slope, cap }) => {
    return floor + ((1 - floor) * cap) / (1 + Math.exp(-slope * (place - difficulty) - shift))
  })
}

interface LogScores {
  share: number
  logSuccess: Float64Array
  logFailure: Float64Array
}

/** Caches the logarithms of the bounded scores and of their complements for each kind of item. A rung takes 22 KB. */
const logScoresByRung = new LRUCache<string, LogScores[]>({ max: 300 })

function getLogScores(rung: FrontierRung, minFailure: number): LogScores[] {
  const key = `${rung.difficulty} ${rung.floor} ${minFailure}`
  const known = logScoresByRung.get(key)
  if (known) return known
  const kinds = ITEM_KINDS.map(({ shift, weight }) => {
    const scores = getExpectedScores(rung, shift).map((score) => Math.min(Math.max(score, minFailure), 1 - minFailure))
    return { share: weight, logSuccess: scores.map(Math.log), logFailure: scores.map((score) => Math.log(1 - score)) }
  })
  logScoresByRung.set(key, kinds)
  return kinds
}

/**
 * Spreads the weight of each place to its neighbors, slightly more to the harder one, and that of each slope and cap to
 * theirs. Mixes in the prior of places: a model that has changed altogether keeps slope and cap, which belong to the task
 * and to its habits. Not for negative slopes: failures on the lowest rung refute a change under all others, so each would
 * count for them.
 */
function drift(weights: FrontierWeights, { mean, standardDeviation }: typeof DRIFT.newStep): Float64Array {
  const spacing = (PLACES[1] ?? 0) - (PLACES[0] ?? 0)
  const share = standardDeviation ** 2 / (2 * spacing ** 2)
  const byPlace = spread(weights, PLACE_STRIDE, PLACES.length, share + mean / spacing, share)
  const bySlope = spread(byPlace, SLOPE_STRIDE, SLOPES.length, DRIFT.slopeShare, DRIFT.slopeShare)
  const byCap = spread(bySlope, 1, CAPS.length, DRIFT.capShare, DRIFT.capShare)
  const bySlopeAndCap = new Float64Array(PLACE_STRIDE)
  byCap.forEach((weight, k) => {
    bySlopeAndCap[k % PLACE_STRIDE] = (bySlopeAndCap[k % PLACE_STRIDE] ?? 0) + weight
  })
  return byCap.map((weight, k) => {
    const placeShare = hasNegativeSlope(Math.floor(k / CAPS.length))
      ? 0
      : (PLACE_PRIOR[Math.floor(k / PLACE_STRIDE)] ?? 0)
    const changed = placeShare * (bySlopeAndCap[k % PLACE_STRIDE] ?? 0)
    return (1 - CHANGE_PROBABILITY) * weight + CHANGE_PROBABILITY * changed
  })
}

/** Moves shares of each weight one step up and down an axis. What would leave the axis stays. */
function spread(weights: Float64Array, stride: number, length: number, up: number, down: number): Float64Array {
  const spread = Float64Array.from(weights)
  const block = stride * length
  for (let start = 0; start < weights.length; start += block) {
    for (let k = start; k < start + block - stride; k++) {
      const flow = (weights[k] ?? 0) * up - (weights[k + stride] ?? 0) * down
      spread[k] = (spread[k] ?? 0) - flow
      spread[k + stride] = (spread[k + stride] ?? 0) + flow
    }
  }
  return spread
}

/** Scales weights to a maximum of 1 and rounds them to what is stored. */
function round(weights: Float64Array): Float64Array {
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0)
  return weights.map((weight) => (largest > 0 ? fromLogSteps(toLogSteps(weight / largest)) : 1))
}

function toLogSteps(weight: number): number {
  return weight > 0 ? Math.min(MAX_LOG_STEPS, Math.round(-Math.log(weight) * LOG_STEPS)) : MAX_LOG_STEPS
}

function fromLogSteps(steps: number): number {
  return WEIGHTS_BY_STEPS[steps] ?? 0
}

/**
 * Sums the weights of each place and slope, either of negative slopes or of the others. If both counted, little weight on
 * negative slopes would decide for a model that solves nothing: all other rungs are worth nothing to it.
 */
function sumShapes(weights: FrontierWeights): { shapes: Float64Array; isNegative: boolean } {
  const sums = Float64Array.from(SHAPES, (_, k) => sum(weights.subarray(k * CAPS.length, (k + 1) * CAPS.length)))
  const negative = sum(sums.filter((_, k) => hasNegativeSlope(k)))
  const isNegative = negative > MIN_NEGATIVE_SLOPE * sum(sums)
  return { shapes: sums.map((weight, k) => (hasNegativeSlope(k) === isNegative ? weight : 0)), isNegative }
}

function hasNegativeSlope(shape: number): boolean {
  return (SHAPES[shape]?.slope ?? 0) < 0
}

function computeValue(shapes: Float64Array, { difficulty }: FrontierRung, target: number | undefined): number {
  const solveRates = getSolveRates(difficulty)
  let total = 0
  let solved = 0
  let variance = 0
  shapes.forEach((weight, k) => {
    const q = solveRates[k] ?? 0
    total += weight
    solved += weight * q
    variance += weight * q * (1 - q)
  })
  return target === undefined ? variance / total : 1 - Math.abs(solved / total - target)
}

function findQuantile(places: readonly { place: number; probability: number }[], share: number): number {
  let reached = 0
  const found = places.find(({ probability }) => {
    reached += probability
    return reached >= share
  })
  return found?.place ?? 0
}

function sum(values: ArrayLike<number>): number {
  let total = 0
  for (let k = 0; k < values.length; k++) total += values[k] ?? 0
  return total
}
