/**
 * The frontier of a model that stays as it is: the posterior of the curriculum, without drift, and with slips, since here a
 * single wrong answer to an easy item counts. Items are asked where their answers will tell most.
 */
import {
  createFrontier,
  estimateFrontier,
  type FrontierRung,
  type FrontierWeights,
  getSolveRates,
  listPlaces,
  observeGroup,
} from '../../runs/frontier/frontier.ts'

/** A model now and then fails what it can do, and the other way round. */
const SLIP_RATE = 0.02

/** One answer, with its score. */
export interface FrontierAnswer {
  score: number
  rung: FrontierRung
}

/** The posterior after answers, in any order but for rounding. */
export function computePosterior(answers: readonly FrontierAnswer[]): FrontierWeights {
  return answers.reduce<FrontierWeights>(
    (weights, { score, rung }) => observeGroup(weights, { score, rollouts: 1, rung }, SLIP_RATE),
    createFrontier(),
  )
}

/**
 * The rungs of the next `count` items, which are asked at once: one after another the one whose answer tells most about place and
 * slope, beyond what the answers of the others will tell (mutual information, as in BatchBALD, arXiv 1906.08158).
 */
export function chooseRound(weights: FrontierWeights, rungs: readonly FrontierRung[], count: number): FrontierRung[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const prior = Float64Array.from(weights, (weight) => weight / total)
  const options = rungs.map((rung) => {
    const success = computeSuccess(rung)
    return { rung, success, noise: dot(prior, success.map(binaryEntropy)) }
  })
  /** For each combination of the answers so far: the probability of it and of each cell. */
  let combinations = [prior]
  return Array.from({ length: count }, () => {
    const informations = options.map(({ success, noise }) => computeJointEntropy(combinations, success) - noise)
    const best = options[informations.indexOf(Math.max(...informations))]
    if (!best) throw new RangeError('a ladder needs a rung')
    combinations = combinations.flatMap((probabilities) => [
      probabilities.map((probability, cell) => probability * (best.success[cell] ?? 0)),
      probabilities.map((probability, cell) => probability * (1 - (best.success[cell] ?? 0))),
    ])
    return best.rung
  })
}

/** Of the answers so far and one more. */
function computeJointEntropy(combinations: readonly Float64Array[], success: Float64Array): number {
  return combinations.reduce((sum, probabilities) => {
    const right = dot(probabilities, success)
    const wrong = probabilities.reduce((all, probability) => all + probability, 0) - right
    return sum + entropyTerm(right) + entropyTerm(wrong)
  }, 0)
}

export interface FrontierPlace {
  /** Within the ladder, [0, 1]: the posterior mean of the place, with what is off the ladder at its ends. */
  difficulty: number
  standardDeviation: number
  interval_90: [number, number]
  slope: number
  /** Where the model most likely is, if not on the ladder. */
  beyond: 'below_ladder' | 'above_ladder' | null
}

export function summarizePosterior(weights: FrontierWeights): FrontierPlace {
  const places = listPlaces(weights).map(({ place, probability }) => ({ place: clamp(place), probability }))
  const difficulty = places.reduce((sum, { place, probability }) => sum + place * probability, 0)
  const variance = places.reduce((sum, { place, probability }) => sum + (place - difficulty) ** 2 * probability, 0)
  const { place, interval, slope } = estimateFrontier(weights)
  return {
    difficulty,
    standardDeviation: Math.sqrt(variance),
    interval_90: [roundPlace(clamp(interval[0])), roundPlace(clamp(interval[1]))],
    slope,
    beyond: place > 1 ? 'above_ladder' : place < 0 ? 'below_ladder' : null,
  }
}

/** The expected score in each cell. */
function computeSuccess({ difficulty, floor }: FrontierRung): Float64Array {
  return getSolveRates(difficulty).map((rate) =>
    Math.min(Math.max(floor + (1 - floor) * rate, SLIP_RATE), 1 - SLIP_RATE),
  )
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let k = 0; k < a.length; k++) sum += (a[k] ?? 0) * (b[k] ?? 0)
  return sum
}

function binaryEntropy(rate: number): number {
  return entropyTerm(rate) + entropyTerm(1 - rate)
}

function entropyTerm(probability: number): number {
  return probability > 0 ? -probability * Math.log(probability) : 0
}

/** Places of the grid without the last digits of their sums. */
function roundPlace(place: number): number {
  return Math.round(place * 10_000) / 10_000
}

function clamp(place: number): number {
  return Math.min(Math.max(place, 0), 1)
}
