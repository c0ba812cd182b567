/**
 * Distinguishes a misconfigured trainer from a gap in its dataset. A trainer that has never sent an item ID gets an
 * error that names the option to set. Later, a sample without one is unscored, because an error would end the run.
 */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { LRUCache } from 'lru-cache'

const MAX_KNOWN = 10_000

export class MissingLabels {
  readonly #hint: string
  /** Callers and runs that have sent item IDs to this process. */
  readonly #known = new LRUCache<string, true>({ max: MAX_KNOWN })

  constructor(hint: string) {
    this.#hint = hint
  }

  /**
   * Returns the item IDs of a call, undefined where a sample has none. Throws `invalid_request` if a new trainer sends
   * none at all.
   */
  read(labels: unknown[], caller: string, run: string | undefined): (string | undefined)[] {
    const itemIds = labels.map((label) => (typeof label === 'string' && label !== '' ? label : undefined))
    if (itemIds.every((itemId) => itemId === undefined) && itemIds.length > 0) {
      if (!this.#known.has(toKey(caller, run))) throw new ServiceError('invalid_request', this.#hint)
    } else if (itemIds.length > 0) this.#known.set(toKey(caller, run), true)
    return itemIds
  }
}

function toKey(caller: string, run = ''): string {
  return `${run} ${caller}`
}
