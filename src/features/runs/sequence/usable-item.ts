/**
 * Finds a seed of a position that has an item to train on. The library raises at some seeds, and some items have no
 * correct answer.
 */
import { isAnswerable } from '@reasoning-gym-server/scorers/hardened/answerable'
import { type ItemWithEntry, isMakeFailure } from '../../items/items.ts'
import type { Candidate } from './allowed-item.ts'
import { SEEDS_PER_POSITION } from './sequence.ts'

/**
 * Thrown if no seed of a position, or none that is left, has an item to train on. The message is that of the last seed.
 */
export class NoUsableItemError extends Error {}

/**
 * Returns the item of the first seed, starting at retry `from`, that the library can make and that an answer can solve.
 * The decision is the same on every node, and temporary failures are thrown. Throws NoUsableItemError.
 */
export async function findUsableItem(
  from: number,
  scoring: 'upstream' | 'hardened',
  make: (retry: number) => Promise<ItemWithEntry>,
): Promise<Candidate> {
  let reason = 'no seed is left'
  for (let retry = from; retry < SEEDS_PER_POSITION; retry++) {
    try {
      const item = await make(retry)
      if (scoring === 'upstream' || isAnswerable(item.recipe.task, item.entry)) return { item, retry }
      reason = 'hardened scoring pays no answer to it'
    } catch (error) {
      if (!isMakeFailure(error)) throw error
      reason = error.message
    }
  }
  throw new NoUsableItemError(`None of the position's ${SEEDS_PER_POSITION} seeds has an item to train on: ${reason}`)
}
