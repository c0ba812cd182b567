/** How the frontiers of tasks are stored: their states and their weights as texts, in a hash each. */
import { CurriculumState, formatCurriculumState } from '../run-record.ts'
import type { StoredFrontier } from './fold.ts'
import type { FrontierWeights } from './frontier.ts'

export function formatWeights(weights: FrontierWeights): string {
  return weights.join(',')
}

export function parseFrontier(state: string, weights: string | null | undefined): StoredFrontier {
  return {
    state: CurriculumState.parse(JSON.parse(state)),
    weights: weights ? weights.split(',').map(Number) : undefined,
  }
}

/** Task, state and weights of each, as the scripts take them. */
export function formatFrontiers(frontiers: ReadonlyMap<string, StoredFrontier>): string[] {
  return [...frontiers].flatMap(([task, { state, weights = [] }]) => [
    task,
    formatCurriculumState(state),
    formatWeights(weights),
  ])
}
