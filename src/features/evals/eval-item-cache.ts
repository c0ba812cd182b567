/** Items of suites made real, each once in a while: its samples ask for it one after another. */
import { LRUCache } from 'lru-cache'
import type { Items, ItemWithEntry } from '../items/items.ts'
import { hashQuestion, type SuiteItem } from './suites.ts'

/** Room for questions, in characters. */
const MAX_CACHED_CHARS = 32 * 1024 * 1024

/** An item that is not what the suite froze: the eval has no meaning. */
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

  /** Throws `ItemChanged`, or the fault that the item cannot be made for. */
  async getOrCreate({ id, question }: SuiteItem): Promise<ItemWithEntry> {
    const made = this.#cache.get(id) ?? (await this.#getOrStartCreation(id))
    if (question !== undefined && hashQuestion(made.question) !== question)
      throw new ItemChangedError(`The item ${id} has another question than the suite was frozen with`)
    return made
  }

  #getOrStartCreation(id: string): Promise<ItemWithEntry> {
    let making = this.#inFlight.get(id)
    if (!making) {
      making = this.#create(id).finally(() => this.#inFlight.delete(id))
      this.#inFlight.set(id, making)
    }
    return making
  }

  async #create(id: string): Promise<ItemWithEntry> {
    const made = await this.#items.getOrCreateOne(await this.#items.resolveItemId(id))
    this.#cache.set(id, made)
    return made
  }
}
