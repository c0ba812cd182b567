/**
 * Computes the frontier of a model that does not change: the posterior of the curriculum without drift, but with slips,
 * since here a single wrong answer to an easy item counts. It asks the items that are most informative.
 */
import {
  createFrontier,
  estimateFrontier,
  type FrontierRung,
  type FrontierWeights,
  getExpectedScores,
  listPlaces,
  observeGroup,
} from '../../runs/curriculum/posterior.ts'

/** Rate at which a model fails an item that it can solve, or solves one that it cannot. */
const SLIP_RATE = 0.02

export interface FrontierAnswer {
  score: number
  isFormatted: boolean
  rung: FrontierRung
}

/** Computes the posterior after the answers, whose order only affects rounding. */
export function computePosterior(answers: readonly FrontierAnswer[]): FrontierWeights {
  return answers.reduce<FrontierWeights>(
    (weights, { score, isFormatted, rung }) =>
      observeGroup(weights, { score, rollouts: 1, formatted: Number(isFormatted), rung }, SLIP_RATE),
    createFrontier({ isUncapped: true }),
  )
}

/**
 * Returns the rungs of the next `count` items, which are asked together. It repeatedly adds the rung whose answer is
 * most informative about place and slope beyond the answers of the rungs chosen before it (mutual information, as in
 * BatchBALD, arXiv 1906.08158).
 */
export function chooseRound(weights: FrontierWeights, rungs: readonly FrontierRung[], count: number): FrontierRung[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const prior = Float64Array.from(weights, (weight) => weight / total)
  const options = rungs.map((rung) => {
    const success = computeSuccess(rung)
    return { rung, success, noise: dot(prior, success.map(binaryEntropy)) }
  })
  /** For each combination of the answers so far, its joint probability with each cell. */
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

/** Computes the entropy of the answers so far and one more. */
function computeJointEntropy(combinations: readonly Float64Array[], success: Float64Array): number {
  return combinations.reduce((sum, probabilities) => {
    const right = dot(probabilities, success)
    const wrong = probabilities.reduce((all, probability) => all + probability, 0) - right
    return sum + entropyTerm(right) + entropyTerm(wrong)
  }, 0)
}

interface FrontierPlace {
  /** Posterior mean of the place in [0, 1], with mass beyond the ladder counted at its ends. */
  difficulty: number
  standardDeviation: number
  interval_90: [number, number]
  slope: number
  cap: number
  /** Side of the ladder where the model most likely is, or null if it is on the ladder. */
  beyond: 'below_ladder' | 'above_ladder' | null
}

/** Only answers in the right format count for the posterior. Their share is the cap. */
export function summarizeAnswers(answers: readonly FrontierAnswer[]): FrontierPlace {
  const weights = computePosterior(answers)
  const places = listPlaces(weights).map(({ place, probability }) => ({ place: clamp(place), probability }))
  const difficulty = places.reduce((sum, { place, probability }) => sum + place * probability, 0)
  const variance = places.reduce((sum, { place, probability }) => sum + (place - difficulty) ** 2 * probability, 0)
  const { place, interval, slope } = estimateFrontier(weights)
  return {
    difficulty,
    standardDeviation: Math.sqrt(variance),
    interval_90: [roundPlace(clamp(interval[0])), roundPlace(clamp(interval[1]))],
    slope,
    cap: answers.filter(({ isFormatted }) => isFormatted).length / answers.length,
    beyond: place > 1 ? 'above_ladder' : place < 0 ? 'below_ladder' : null,
  }
}

/** Computes the expected score in each cell. */
function computeSuccess(rung: FrontierRung): Float64Array {
  return getExpectedScores(rung).map((expected) => Math.min(Math.max(expected, SLIP_RATE), 1 - SLIP_RATE))
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

/** Rounds a place of the grid to remove the floating-point error of sums. */
function roundPlace(place: number): number {
  return Math.round(place * 10_000) / 10_000
}

function clamp(place: number): number {
  return Math.min(Math.max(place, 0), 1)
}
