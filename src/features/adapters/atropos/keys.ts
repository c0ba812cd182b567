/** Redis keys of the Atropos trajectory stores, each in its own slot. */
import type { RedisKeys } from '../../../platform/redis/keys.ts'

export interface StoreKeys {
  /** Hash: registration, step and counters. */
  store: string
  /** Hash: environment ID to its JSON. */
  environments: string
  /** Hash: environment ID to the time of its last call, ms. */
  heard: string
  /** Sorted set: group ID by order of arrival. */
  queue: string
  /** Hash: group ID to `sequences|environment|accepted at|stored bytes|JSON bytes`. */
  entries: string
  /** Hash: `environment:sequences` to how many such groups are queued. */
  counts: string
  /** Hash: batch ID to its JSON, until its answer is sent. */
  batches: string
  /** Sorted set: batch ID by the time when it is offered again, ms. */
  leases: string
  /** Sorted set: digest of an accepted submission by time, until its answer is sent. */
  unanswered: string
  /** Prefix of the keys of groups, which hold packed JSON. */
  groupPrefix: string
}

/** Builds the keys. `run` is null for the store of `/atropos` itself. */
export function createStoreKeys(keys: RedisKeys, run: string | null): StoreKeys {
  const slot = keys.slot(run === null ? 'atropos' : `atropos:${run}`)
  return {
    store: `${slot}:store`,
    environments: `${slot}:environments`,
    heard: `${slot}:heard`,
    queue: `${slot}:queue`,
    entries: `${slot}:entries`,
    counts: `${slot}:counts`,
    batches: `${slot}:batches`,
    leases: `${slot}:leases`,
    unanswered: `${slot}:unanswered`,
    groupPrefix: `${slot}:group:`,
  }
}

/** Keys of a run whose batches a trainer of Atropos takes. */
export interface RunDeliveryKeys {
  /** String: registration of the trainer, as JSON. */
  registration: string
  /** String: lease of the caller whose answer is being sent. */
  lease: string
}

export function createRunDeliveryKeys(keys: RedisKeys, run: string): RunDeliveryKeys {
  const slot = keys.slot(`atropos-run:${run}`)
  return { registration: `${slot}:registration`, lease: `${slot}:lease` }
}
