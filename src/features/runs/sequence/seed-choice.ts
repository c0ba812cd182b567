/**
 * Which seed of a position gives its item under `item_selection: "predicted"`: one of its first four, the candidates. Once
 * the items of a task can be predicted, it is the one whose prediction is nearest to the target, except at a tenth of the
 * positions. Each candidate has a known probability, so that none is ruled out and off-policy estimates stay possible.
 */
import { type ItemWithEntry, isMakeFailure } from '../../items/items.ts'
import type { ItemDistance } from '../curriculum/frontier-curriculum.ts'
import { SEEDS_PER_POSITION } from './sequence.ts'

/** More candidates cost more time to make and win little: in a simulation, eight gave no more groups with signal than four. */
const CANDIDATES = 4
/** Share of the predicted positions that get a random candidate. */
const RANDOM_SHARE = 0.1

const CANDIDATE_RETRIES = Array.from({ length: CANDIDATES }, (_, retry) => retry)

export interface SeedChoice {
  /** The k-th retry of the position's seed. */
  retry: number
  /** Difficulty of the item; at another rung, there is another choice. */
  difficulty: number | null
  /** Probability of this candidate. */
  probability: number
}

export interface SeedDraw {
  /** A number in [0, 1) of the position. */
  selection: number
  difficulty: number | null
  /** What was chosen before at the same rung. */
  previousChoice: SeedChoice | undefined
}

/** What to make before the seed of a position is chosen. */
export interface SeedPlan {
  /** The seeds whose items are made at once, as retries of the first one. */
  candidates: readonly number[]
  /** Chooses the seed that is tried first. If it is undefined, that is the first one. */
  choose: ((items: readonly Promise<ItemWithEntry>[]) => Promise<SeedChoice>) | undefined
}
export const FIRST_SEED: SeedPlan = { candidates: [0], choose: undefined }

/** An earlier choice at the same rung stays. Only with a prediction, the choice needs the items of all candidates. */
export function planSeeds(
  { selection, difficulty, previousChoice }: SeedDraw,
  distance: ItemDistance | undefined,
): SeedPlan {
  if (previousChoice || !distance) {
    const choice = previousChoice ?? chooseAnySeed(selection, difficulty)
    return { candidates: [choice.retry], choose: () => Promise.resolve(choice) }
  }
  const choose = async (items: readonly Promise<ItemWithEntry>[]) => {
    const distances = (await Promise.allSettled(items)).map((outcome) => {
      if (outcome.status === 'fulfilled') return distance(outcome.value.question, outcome.value.entry.answer ?? '')
      if (isMakeFailure(outcome.reason)) return Number.POSITIVE_INFINITY
      throw outcome.reason
    })
    return choosePredictedSeed(selection, difficulty, distances)
  }
  return { candidates: CANDIDATE_RETRIES, choose }
}

/** Chooses a candidate at random. */
export function chooseAnySeed(uniform: number, difficulty: number | null): SeedChoice {
  return { retry: Math.floor(uniform * CANDIDATES), difficulty, probability: 1 / CANDIDATES }
}

/** Chooses among candidates with these distances from the target; that of one without an item is infinite. */
export function choosePredictedSeed(
  uniform: number,
  difficulty: number | null,
  distances: readonly number[],
): SeedChoice {
  const nearest = distances.reduce((best, distance, k) => (distance < (distances[best] ?? 0) ? k : best), 0)
  const retry = uniform < RANDOM_SHARE ? Math.floor((uniform / RANDOM_SHARE) * CANDIDATES) : nearest
  const probability = RANDOM_SHARE / CANDIDATES + (retry === nearest ? 1 - RANDOM_SHARE : 0)
  return { retry, difficulty, probability }
}

/** Lists the position's seeds in the order in which they are tried. */
export function listRetries(first: number): number[] {
  const all = Array.from({ length: SEEDS_PER_POSITION }, (_, retry) => retry)
  return [first, ...all.filter((retry) => retry !== first)]
}

export function formatSeedChoice({ retry, difficulty, probability }: SeedChoice): string {
  return `${retry} ${difficulty ?? ''} ${probability}`
}

export function parseSeedChoice(text: string): SeedChoice | undefined {
  const [retry = '', difficulty = '', probability = '', ...rest] = text.split(' ')
  const choice = {
    retry: Number(retry || Number.NaN),
    difficulty: difficulty === '' ? null : Number(difficulty),
    probability: Number(probability || Number.NaN),
  }
  const isChoice =
    rest.length === 0 &&
    CANDIDATE_RETRIES.includes(choice.retry) &&
    !Number.isNaN(choice.difficulty) &&
    choice.probability > 0 &&
    choice.probability <= 1
  return isChoice ? choice : undefined
}
