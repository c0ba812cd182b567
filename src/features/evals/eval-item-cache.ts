/** Caches suite items, because the samples of one item need it in succession. */
import { LRUCache } from 'lru-cache'
import type { Items, ItemWithEntry } from '../items/items.ts'
import { hashQuestion } from '../items/question-hash.ts'
import type { SuiteItem } from './suites.ts'

/** Limit for the cached questions and entries, in characters. */
const MAX_CACHED_CHARS = 32 * 1024 * 1024

/** Signals that an item differs from the one that the suite was frozen with, so scores on it would be meaningless. */
export class ItemChangedError extends Error {}

export class EvalItemCache {
  readonly #items: Items
  readonly #cache = new LRUCache<string, ItemWithEntry>({
    maxSize: MAX_CACHED_CHARS,
    sizeCalculation: ({ question, entry }) => question.length + JSON.stringify(entry).length + 1,
  })
  readonly #inFlight = new Map<string, Promise<ItemWithEntry>>()

  constructor(items: Items) {
    this.#items = items
  }

  /** Returns the item. Throws an `ItemChangedError`, or the error that prevented its creation. */
  async getOrCreate({ id, questionHash }: SuiteItem): Promise<ItemWithEntry> {
    const item = this.#cache.get(id) ?? (await this.#getOrStartCreation(id))
    if (questionHash !== undefined && hashQuestion(item.question) !== questionHash)
      throw new ItemChangedError(`The question of item ${id} differs from the one that the suite was frozen with`)
    return item
  }

  #getOrStartCreation(id: string): Promise<ItemWithEntry> {
    let creation = this.#inFlight.get(id)
    if (!creation) {
      creation = this.#create(id).finally(() => this.#inFlight.delete(id))
      this.#inFlight.set(id, creation)
    }
    return creation
  }

  async #create(id: string): Promise<ItemWithEntry> {
    const item = await this.#items.getOrCreateOne(await this.#items.resolveItemId(id))
    this.#cache.set(id, item)
    return item
  }
}
