/**
 * Predicts the success at an item from the sizes of its question and answer, by logistic regression within one task:
 *
 *     success = cap × (floor + (1 − floor) × q),    logit q = that of the rung + weights · features
 *
 * The frontier estimates the logit of the rung. Features are standardized around their trend over the ladder, so they only
 * tell the items of one rung apart. The weights have a normal distribution that each group updates by an extended Kalman
 * filter, and that slowly spreads, because the model learns. All functions are pure: the same groups in the same order give
 * the same predictions.
 */
import { estimateFrontier, estimateSolveRate, type FrontierRung, type FrontierWeights } from './posterior.ts'

/** Number of features that measureItem returns. */
const FEATURES = 5
/** Groups of a task before which its items are not predicted. */
const MIN_GROUPS = 4
/** Factor per group on the weight of earlier items in the trend and the deviation of features. */
const FORGETTING = 0.97
const PRIOR_VARIANCE = 0.1
/** Growth of the variance of each weight from group to group. */
const DRIFT_VARIANCE = 0.0005
/** Variance of the logit that neither the frontier nor the features explain. */
const UNEXPLAINED_VARIANCE = 0.6
/** Bounds that keep a single odd item or group from deciding. Features are logarithms, and so is their deviation. */
const LIMITS = { minDeviation: 0.01, feature: 3, offset: 2, minShare: 0.001, minSuccess: 0.02 }
/**
 * Slope of the frontier below which the difference of an item from its rung does not shift its difficulty further. If the
 * model is better on harder rungs, nothing does.
 */
const MIN_SLOPE = 4
/** Shifted difficulties are multiples of this, so that caches by difficulty stay small. */
const SHIFTS_PER_UNIT = 100

/** What a task has shown about its items. */
export interface ItemPredictor {
  groups: number
  /** Discounted sums of 1, d and d², where d is the difficulty. */
  moments: number[]
  /** Discounted sums for each feature x: of x, of x × d, and of the squared distance from the trend. */
  sums: number[]
  products: number[]
  squares: number[]
  /** Mean and covariance, by rows, of the weights. */
  weights: number[]
  covariance: number[]
}
const LISTS = ['moments', 'sums', 'products', 'squares', 'weights', 'covariance'] as const

export interface MeasuredItem {
  difficulty: number
  features: readonly number[]
}

export interface ItemGroup extends MeasuredItem {
  score: number
  rollouts: number
  floor: number
}

export function createPredictor(): ItemPredictor {
  const zeros = () => Array<number>(FEATURES).fill(0)
  const covariance = Array.from({ length: FEATURES ** 2 }, (_, k) => (isOnDiagonal(k) ? PRIOR_VARIANCE : 0))
  const sums = { sums: zeros(), products: zeros(), squares: zeros() }
  return { groups: 0, moments: [0, 0, 0], ...sums, weights: zeros(), covariance }
}

/** Returns logarithms of sizes. What makes items of one rung differ often makes them longer. */
export function measureItem(question: string, answer: string): number[] {
  const sizes = [
    question.length,
    question.match(/\d/g)?.length ?? 0,
    new Set(question.match(/\p{L}+|\d+/gu)).size,
    answer.length,
    Number(answer.match(/\d{1,15}/)?.[0] ?? 0),
  ]
  return sizes.map((size) => Math.log1p(size))
}

/** Whether enough groups of the task have counted. */
export function canPredict({ groups }: ItemPredictor): boolean {
  return groups >= MIN_GROUPS
}

/** Returns the share q. */
export function predictSolveRate(predictor: ItemPredictor, weights: FrontierWeights, item: MeasuredItem): number {
  return toShare(logitOfRung(weights, item.difficulty) + predictOffset(predictor, item))
}

/**
 * Returns the predictor after a group, and the rung whose usual items are as hard as the group's item was predicted to be:
 * the frontier learns from that one, so that a choice of easy or hard items does not mislead it. `weights` are those before
 * the group.
 */
export function learnItem(
  predictor: ItemPredictor,
  weights: FrontierWeights,
  group: ItemGroup,
): { predictor: ItemPredictor; rung: FrontierRung } {
  const { difficulty, floor } = group
  if (!canPredict(predictor)) return { predictor: learnTrend(predictor, group), rung: { difficulty, floor } }
  const { slope, cap } = estimateFrontier(weights)
  const shift = slope > 0 ? predictOffset(predictor, group) / Math.max(slope, MIN_SLOPE) : 0
  return {
    predictor: learnTrend(learnWeights(predictor, group, logitOfRung(weights, difficulty), cap), group),
    rung: { difficulty: Math.round((difficulty - shift) * SHIFTS_PER_UNIT) / SHIFTS_PER_UNIT, floor },
  }
}

/** Formats the numbers for storage, 64 bits each, in base64. */
export function formatPredictor({ groups, ...lists }: ItemPredictor): string {
  const numbers = [groups, ...LISTS.flatMap((name) => lists[name])]
  return Buffer.from(Float64Array.from(numbers).buffer).toString('base64')
}

/** Returns undefined for text that formatPredictor cannot have written. */
export function parsePredictor(text: string): ItemPredictor | undefined {
  const bytes = Buffer.from(text, 'base64')
  const empty = createPredictor()
  const length = LISTS.reduce((total, name) => total + empty[name].length, 1)
  if (bytes.length !== 8 * length || bytes.toString('base64') !== text) return undefined
  const numbers = Array.from({ length }, (_, k) => bytes.readDoubleLE(8 * k))
  if (!numbers.every(Number.isFinite)) return undefined
  const [groups = 0, ...rest] = numbers
  const lists = LISTS.map((name) => [name, rest.splice(0, empty[name].length)])
  return { groups, ...Object.fromEntries(lists) } as ItemPredictor // of LISTS, in their order
}

function predictOffset(predictor: ItemPredictor, item: MeasuredItem): number {
  return clamp(dot(predictor.weights, standardize(predictor, item)), LIMITS.offset)
}

function learnWeights(predictor: ItemPredictor, group: ItemGroup, rungLogit: number, cap: number): ItemPredictor {
  const { score, rollouts, floor } = group
  const features = standardize(predictor, group)
  const covariance = predictor.covariance.map((value, k) => value + (isOnDiagonal(k) ? DRIFT_VARIANCE : 0))
  const solved = toShare(rungLogit + dot(predictor.weights, features))
  const expected = cap * (floor + (1 - floor) * solved)
  const success = Math.min(Math.max(expected, LIMITS.minSuccess), 1 - LIMITS.minSuccess)
  const slope = Math.max(cap * (1 - floor) * solved * (1 - solved), 1e-4)
  const noise = (success * (1 - success)) / rollouts + slope ** 2 * UNEXPLAINED_VARIANCE
  const spread = features.map((_, k) => dot(covariance.slice(k * FEATURES, (k + 1) * FEATURES), features))
  const gain = slope / (slope ** 2 * dot(spread, features) + noise)
  return {
    ...predictor,
    weights: predictor.weights.map((weight, k) => weight + gain * (score - success) * (spread[k] ?? 0)),
    covariance: covariance.map((value, k) => {
      return value - gain * slope * (spread[Math.floor(k / FEATURES)] ?? 0) * (spread[k % FEATURES] ?? 0)
    }),
  }
}

function learnTrend(predictor: ItemPredictor, { difficulty, features }: MeasuredItem): ItemPredictor {
  const { groups, moments, sums, products, squares } = predictor
  const add = (total: number, value: number) => FORGETTING * total + value
  const distances = features.map((feature, k) => (groups === 0 ? 0 : feature - trendOf(predictor, k, difficulty)))
  return {
    ...predictor,
    groups: groups + 1,
    moments: moments.map((total, power) => add(total, difficulty ** power)),
    sums: sums.map((total, k) => add(total, features[k] ?? 0)),
    products: products.map((total, k) => add(total, (features[k] ?? 0) * difficulty)),
    squares: squares.map((total, k) => add(total, (distances[k] ?? 0) ** 2)),
  }
}

/** Returns the mean of a feature at a difficulty, by linear regression. Of one rung alone, the trend is level. */
function trendOf({ moments, sums, products }: ItemPredictor, k: number, difficulty: number): number {
  const [count = 1, ofDifficulty = 0, ofSquares = 0] = moments
  const [mean, center] = [(sums[k] ?? 0) / count, ofDifficulty / count]
  const covariance = (products[k] ?? 0) / count - mean * center
  const variance = Math.max(ofSquares / count - center ** 2, 0)
  return mean + (covariance / (variance + 1e-4)) * (difficulty - center)
}

function standardize(predictor: ItemPredictor, { difficulty, features }: MeasuredItem): number[] {
  const [count = 1] = predictor.moments
  return features.map((feature, k) => {
    const deviation = Math.sqrt((predictor.squares[k] ?? 0) / count) + LIMITS.minDeviation
    return clamp((feature - trendOf(predictor, k, difficulty)) / deviation, LIMITS.feature)
  })
}

function logitOfRung(weights: FrontierWeights, difficulty: number): number {
  const share = Math.min(Math.max(estimateSolveRate(weights, difficulty), LIMITS.minShare), 1 - LIMITS.minShare)
  return Math.log(share / (1 - share))
}

function isOnDiagonal(k: number): boolean {
  return k % (FEATURES + 1) === 0
}

function toShare(logit: number): number {
  return 1 / (1 + Math.exp(-logit))
}

function clamp(value: number, limit: number): number {
  return Math.min(Math.max(value, -limit), limit)
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, k) => sum + value * (b[k] ?? 0), 0)
}
