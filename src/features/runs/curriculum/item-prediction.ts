/**
 * Predicts how much easier or harder an item is for the model than its rung, from the sizes of its question and answer.
 * The prediction is a logistic regression of one task:
 *
 *     success = cap × (floor + (1 − floor) × q),    logit q = that of the rung by the frontier + weights · features
 *
 * Features are standardized around their trend over the ladder, so the frontier keeps the rungs and this the items within
 * them. The weights are a normal distribution that each group updates by an extended Kalman filter, and that slowly
 * spreads, because the model learns. All functions are pure: the same groups in the same order give the same state.
 */
const FEATURES = 5
/** Weight of the latest group in the trend and the deviation of features. */
const FORGETTING = 0.97
/** Groups of a task before which its items are not predicted. */
const MIN_GROUPS = 4
const PRIOR_VARIANCE = 0.3
/** By which the variance of each weight grows from group to group. */
const DRIFT_VARIANCE = 0.0005
/** Variance of the logit that neither the frontier nor the features explain. */
const UNEXPLAINED_VARIANCE = 0.6
/** The deviation that features have at least, relative to their range as logarithms. */
const MIN_DEVIATION = 0.01
const MAX_FEATURE = 3
const MAX_OFFSET = 2
const MIN_SUCCESS = 0.02

/** What a task has shown about its items. All sums are discounted. */
export interface ItemPredictor {
  groups: number
  /** Sums of 1, d and d², where d is the difficulty. */
  moments: number[]
  /** Of each feature: sums of x and of x × d, and of the squared distances from the trend. */
  sums: number[]
  products: number[]
  squares: number[]
  weights: number[]
  /** By rows. */
  covariance: number[]
}

export interface ItemSizes {
  difficulty: number
  features: readonly number[]
}

const LISTS = ['moments', 'sums', 'products', 'squares', 'weights', 'covariance'] as const

const zeros = () => Array<number>(FEATURES).fill(0)

export function createPredictor(): ItemPredictor {
  return {
    groups: 0,
    moments: [0, 0, 0],
    sums: zeros(),
    products: zeros(),
    squares: zeros(),
    weights: zeros(),
    covariance: Array.from({ length: FEATURES ** 2 }, (_, k) => (k % (FEATURES + 1) === 0 ? PRIOR_VARIANCE : 0)),
  }
}

/** Returns the logarithms of sizes: whatever makes items of one rung differ mostly makes them longer. */
export function measureItem(question: string, answer: string): number[] {
  const sizes = [
    question.length,
    question.match(/\d/g)?.length ?? 0,
    new Set(question.match(/\p{L}+|\d+/gu)).size,
    answer.length,
    Number(answer.match(/\d+/)?.[0] ?? 0),
  ]
  return sizes.map((size) => Math.log1p(size))
}

/** Whether enough groups of the task have counted. */
export function canPredict({ groups }: ItemPredictor): boolean {
  return groups >= MIN_GROUPS
}

/** Returns by how much the logit of an item's success differs from that of its rung. */
export function predictOffset(predictor: ItemPredictor, item: ItemSizes): number {
  if (!canPredict(predictor)) return 0
  const offset = dot(predictor.weights, standardize(predictor, item))
  return Math.min(Math.max(offset, -MAX_OFFSET), MAX_OFFSET)
}

/** A scored group, and what the frontier expected of its rung. */
export interface PredictedGroup {
  item: ItemSizes
  score: number
  rollouts: number
  /** Logit of the share of the rung's items that the model solves without guessing. */
  rungLogit: number
  floor: number
  cap: number
}

export function learnFromGroup(predictor: ItemPredictor, group: PredictedGroup): ItemPredictor {
  return learnTrend(canPredict(predictor) ? learnWeights(predictor, group) : predictor, group.item)
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

function learnWeights(predictor: ItemPredictor, group: PredictedGroup): ItemPredictor {
  const { item, score, rollouts, rungLogit, floor, cap } = group
  const features = standardize(predictor, item)
  const covariance = predictor.covariance.map((value, k) => value + (k % (FEATURES + 1) === 0 ? DRIFT_VARIANCE : 0))
  const solved = 1 / (1 + Math.exp(-rungLogit - dot(predictor.weights, features)))
  const success = Math.min(Math.max(cap * (floor + (1 - floor) * solved), MIN_SUCCESS), 1 - MIN_SUCCESS)
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

function learnTrend(predictor: ItemPredictor, item: ItemSizes): ItemPredictor {
  const { groups, moments, sums, products, squares } = predictor
  const { difficulty, features } = item
  const discount = (total: number, value: number) => FORGETTING * total + value
  const distances = features.map((feature, k) => (groups === 0 ? 0 : feature - trendOf(predictor, k, difficulty)))
  return {
    ...predictor,
    groups: groups + 1,
    moments: moments.map((total, power) => discount(total, difficulty ** power)),
    sums: sums.map((total, k) => discount(total, features[k] ?? 0)),
    products: products.map((total, k) => discount(total, (features[k] ?? 0) * difficulty)),
    squares: squares.map((total, k) => discount(total, (distances[k] ?? 0) ** 2)),
  }
}

/** Returns the mean of a feature at a difficulty, by linear regression with a slight pull toward a level trend. */
function trendOf({ moments, sums, products }: ItemPredictor, k: number, difficulty: number): number {
  const [count = 1, ofDifficulty = 0, ofSquares = 0] = moments
  const [mean, center] = [(sums[k] ?? 0) / count, ofDifficulty / count]
  const covariance = (products[k] ?? 0) / count - mean * center
  const variance = Math.max(ofSquares / count - center ** 2, 0)
  return mean + (covariance / (variance + 1e-4)) * (difficulty - center)
}

function standardize(predictor: ItemPredictor, { difficulty, features }: ItemSizes): number[] {
  const [count = 1] = predictor.moments
  return features.map((feature, k) => {
    const deviation = Math.sqrt((predictor.squares[k] ?? 0) / count) + MIN_DEVIATION
    const distance = (feature - trendOf(predictor, k, difficulty)) / deviation
    return Math.min(Math.max(distance, -MAX_FEATURE), MAX_FEATURE)
  })
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, k) => sum + value * (b[k] ?? 0), 0)
}
