/** Caches the items of suites: the samples of an item need it one after another. */
import { LRUCache } from 'lru-cache'
import type { Items, ItemWithEntry } from '../items/items.ts'
import { hashQuestion, type SuiteItem } from './suites.ts'

/** Of questions and entries. */
const MAX_CACHED_CHARS = 32 * 1024 * 1024

/** The item differs from the one that the suite was frozen with, so scores on it would be meaningless. */
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

  /** Throws an `ItemChangedError`, or the error for which the item cannot be created. */
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
