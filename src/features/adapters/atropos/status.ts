/**
 * Computes the status of the queue for an environment, with the original's sums over the environments that are still
 * active.
 */
import type { StoreState } from './store-repository.ts'

/** Time without a call after which an environment gets no share of a batch; an active one asks ten times a second. */
const SILENT_MS = 120_000
/** Minimum weight, so that an environment never starves. */
const MIN_WEIGHT = 0.01

export interface EnvironmentStatus {
  current_step: number
  queue_size: number
  unallocated_fraction: number
  self_queue_size: number
  max_group_size: number
  env_weight: number
}

type LiveEnvironment = StoreState['environments'] extends Map<number, infer E> ? E : never

function listLive({ environments }: StoreState, now: number): [id: number, environment: LiveEnvironment][] {
  return [...environments].filter(([, { connected, heardAt }]) => connected && now - heardAt < SILENT_MS)
}

/** Computes the minimum number of sequences in a batch for each environment that asked for a share. */
export function computeMinimums(state: StoreState, now: number): Map<number, number> {
  const batchSize = state.store.registration?.batch_size ?? 0
  return new Map(
    listLive(state, now).flatMap(([id, { min_batch_allocation: share }]) =>
      share === null ? [] : [[id, Math.trunc(batchSize * share)] as const],
    ),
  )
}

/**
 * Treats an environment that the store does not know as if it were alone, so that it needs no restart after a reset.
 */
export function describeEnvironment(state: StoreState, id: number, now: number): EnvironmentStatus {
  const live = listLive(state, now)
  const own = state.environments.get(id)
  const minimums = computeMinimums(state, now)
  const allocated = live.reduce((sum, [, { min_batch_allocation: share }]) => sum + (share ?? 0), 0)
  const ownCounts = state.counts.filter(({ environment }) => environment === id)
  const groupSize = Math.max(own?.group_size ?? 1, ...ownCounts.map(({ sequences }) => sequences))
  const maxGroupSize = Math.max(1, ...state.counts.map(({ sequences }) => sequences))
  const ownSequences = sumSequences(ownCounts)
  const others = new Set(state.counts.flatMap(({ environment }) => (environment === id ? [] : [environment])))
  let available = 0
  if (maxGroupSize > 1) {
    for (const other of others) {
      const sequences = sumSequences(state.counts.filter(({ environment }) => environment === other))
      const packed = Math.ceil(sequences / maxGroupSize) * maxGroupSize
      available += Math.max(0, packed - (other === null ? 0 : (minimums.get(other) ?? 0)))
    }
  }
  return {
    current_step: state.store.step ?? 0,
    queue_size: Math.floor((ownSequences + available) / groupSize),
    unallocated_fraction: 1 - Math.min(1, allocated),
    self_queue_size: Math.floor(ownSequences / groupSize),
    max_group_size: maxGroupSize,
    env_weight: computeWeight(live, own),
  }
}

function computeWeight(live: [number, LiveEnvironment][], own: LiveEnvironment | undefined): number {
  if (!own) return 1
  const total = live.reduce((sum, [, { max_token_length, weight }]) => sum + max_token_length * Math.max(0, weight), 0)
  const share = (own.max_token_length * own.weight) / total
  return Number.isFinite(share) ? Math.max(MIN_WEIGHT, share) : 1
}

function sumSequences(counts: StoreState['counts']): number {
  return counts.reduce((sum, { sequences, groups }) => sum + sequences * groups, 0)
}
