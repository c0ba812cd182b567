/** Keys of the Atropos trajectory stores, each in a slot of its own. */
import type { RedisKeys } from '../../../platform/redis/keys.ts'

export interface StoreKeys {
  /** Hash: registration, step and counters. */
  store: string
  /** Hash: environment ID to its JSON. */
  environments: string
  /** Hash: environment ID to when it was last heard, ms. */
  heard: string
  /** Sorted set: group ID by order of arrival. */
  queue: string
  /** Hash: group ID to `sequences|environment|accepted at|stored bytes|JSON bytes`. */
  entries: string
  /** Hash: `environment:sequences` to how many such groups are queued. */
  counts: string
  /** Hash: batch ID to its JSON, until its answer has left. */
  batches: string
  /** Sorted set: batch ID by when it is offered again, ms. */
  leases: string
  /** Sorted set: digest of an accepted submission by time, until its answer has left. */
  unanswered: string
  /** The start of the keys of groups: packed JSON. */
  groupPrefix: string
}

/** `run` is null for the store of `/atropos` itself. */
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

/** Of a run whose batches a trainer of Atropos takes. */
export interface RunDeliveryKeys {
  /** What the trainer said of itself, as JSON. */
  registration: string
  /** Whose answer is leaving. */
  lease: string
}

export function createRunDeliveryKeys(keys: RedisKeys, run: string): RunDeliveryKeys {
  const slot = keys.slot(`atropos-run:${run}`)
  return { registration: `${slot}:registration`, lease: `${slot}:lease` }
}
