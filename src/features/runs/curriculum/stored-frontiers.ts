/** Converts frontiers to and from their stored form: one hash with the states, another one with the weights. */
import { CurriculumState, formatCurriculumState } from '../records.ts'
import type { StoredFrontier } from './fold.ts'
import type { FrontierWeights } from './posterior.ts'

export function formatWeights(weights: FrontierWeights): string {
  return weights.join(',')
}

export function parseFrontier(state: string, weights: string | null | undefined): StoredFrontier {
  return {
    state: CurriculumState.parse(JSON.parse(state)),
    weights: weights ? weights.split(',').map(Number) : undefined,
  }
}

/** Lists the task, state and weights of each frontier, as the scripts expect them. */
export function formatFrontiers(frontiers: ReadonlyMap<string, StoredFrontier>): string[] {
  return [...frontiers].flatMap(([task, { state, weights = [] }]) => [
    task,
    formatCurriculumState(state),
    formatWeights(weights),
  ])
}
