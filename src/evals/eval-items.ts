/** Items of suites made real, each once in a while: its samples ask for it one after another. */
import { LRUCache } from 'lru-cache'
import type { Items, MadeItem } from '../items/items.ts'
import { questionHash, type SuiteItem } from './suites.ts'

/** Room for questions, in characters. */
const REMEMBERED_CHARS = 32 * 1024 * 1024

/** An item that is not what the suite froze: the eval has no meaning. */
export class ItemChanged extends Error {}

export class EvalItems {
  readonly #items: Items
  readonly #made = new LRUCache<string, MadeItem>({
    maxSize: REMEMBERED_CHARS,
    sizeCalculation: ({ question, entry }) => question.length + JSON.stringify(entry).length + 1,
  })
  readonly #making = new Map<string, Promise<MadeItem>>()

  constructor(items: Items) {
    this.#items = items
  }

  /** Throws `ItemChanged`, or the fault that the item cannot be made for. */
  async make({ id, question }: SuiteItem): Promise<MadeItem> {
    const made = this.#made.get(id) ?? (await this.#makeOnce(id))
    if (question !== undefined && questionHash(made.question) !== question)
      throw new ItemChanged(`The item ${id} has another question than the suite was frozen with`)
    return made
  }

  #makeOnce(id: string): Promise<MadeItem> {
    let making = this.#making.get(id)
    if (!making) {
      making = this.#make(id).finally(() => this.#making.delete(id))
      this.#making.set(id, making)
    }
    return making
  }

  async #make(id: string): Promise<MadeItem> {
    const made = await this.#items.getOne(await this.#items.open(id))
    this.#made.set(id, made)
    return made
  }
}
