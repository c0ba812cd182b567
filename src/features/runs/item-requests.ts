/** `/items`: the next items of a run, those of one of its steps, the items of a recipe, and items shown again. */
import type { Item } from '../../contract/item.ts'
import type { ItemsRequest } from '../../contract/items-request.ts'
import type { RecipeInput } from '../../contract/recipe.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { Idempotency } from '../../platform/redis/idempotency.ts'
import type { Items, ItemWithEntry } from '../items/items.ts'
import { DEFAULT_PROMPT_SETTINGS } from '../items/prompt.ts'
import type { ResolvedRun } from './resolved-run.ts'
import { createRunLogger, type ParentLogger } from './run-logger.ts'
import type { Runs } from './runs.ts'
import type { DequeuedItems, ItemQueue } from './sequence/item-queue.ts'

interface ItemRequestsDeps {
  items: Items
  runs: Runs
  itemQueue: ItemQueue
  recorder: MetricsRecorder
  idempotency: Idempotency
}

interface RequestContext {
  callerId: string
  idempotencyKey: string | undefined
  /** How long to wait for the items of a step. */
  waitMs: number
  log: ParentLogger
}

export type RevealedItem = Item & Pick<ItemWithEntry['entry'], 'answer' | 'metadata'>

export class ItemRequests {
  readonly #deps: ItemRequestsDeps

  constructor(deps: ItemRequestsDeps) {
    this.#deps = deps
  }

  /** The items that a request asks for; the same items if it is repeated under its idempotency key. */
  async serve(body: ItemsRequest, context: RequestContext): Promise<DequeuedItems> {
    const { idempotency, recorder } = this.#deps
    const request = { scope: `items ${context.callerId}`, key: context.idempotencyKey, body }
    const response = await idempotency.runOnce(request, async () => {
      const served = await this.#getItems(body, context)
      recorder.recordServedItems(served.items)
      return { status: 200, body: served }
    })
    return response.body
  }

  /** An item as it is shown to clients of the run, or by default. */
  async get(id: string, run: string | undefined): Promise<Item> {
    return (await this.#getWithEntry(id, run)).item
  }

  /** An item with its reference answer. */
  async reveal(id: string, run: string | undefined): Promise<RevealedItem> {
    const { item, entry } = await this.#getWithEntry(id, run)
    return { ...item, ...entry }
  }

  /** The item, generated in the last two hours, whose question ends this text. Throws `not_found`. */
  async findByQuestion(text: string): Promise<RevealedItem> {
    const { items } = this.#deps
    const found = await items.requireByQuestion(text)
    return { ...items.formatItem(found, DEFAULT_PROMPT_SETTINGS), ...found.entry }
  }

  async #getWithEntry(id: string, run: string | undefined) {
    const { items, runs } = this.#deps
    const prompt = run === undefined ? DEFAULT_PROMPT_SETTINGS : (await runs.require(run)).settings
    const found = await items.getOrCreateOne(await items.resolveItemId(id))
    return { item: items.formatItem(found, prompt), entry: found.entry }
  }

  async #getItems(request: ItemsRequest, { waitMs, log }: RequestContext): Promise<DequeuedItems> {
    const { items, runs, itemQueue } = this.#deps
    if ('task' in request) {
      const recipes = await Promise.all(expandRecipes(request).map((recipe) => items.resolveRecipe(recipe)))
      const generated = await items.getOrCreate(recipes)
      return { items: generated.map((item) => items.formatItem(item, DEFAULT_PROMPT_SETTINGS)) }
    }
    const run = await runs.getOrCreate(request.run)
    const served =
      'step' in request
        ? { items: await itemQueue.requireStepItems(run, request, waitMs) }
        : await itemQueue.next(run, request.count)
    logServedItems(log, run, served.items)
    return served
  }
}

function expandRecipes(request: Extract<ItemsRequest, { task: string }>): RecipeInput[] {
  if ('seeds' in request) {
    const { seeds, ...recipe } = request
    return seeds.map((seed) => ({ ...recipe, seed }))
  }
  const { count, ...recipe } = request
  return Array.from({ length: count }, (_, k) => ({ ...recipe, index: recipe.index + k }))
}

/** Tasks and difficulties, for a run that logs at debug level. */
function logServedItems(log: ParentLogger, { name, settings }: ResolvedRun, items: Item[]): void {
  const { debug } = createRunLogger(log, name, settings)
  for (const { id, task, difficulty } of items) debug?.({ item_id: id, task, difficulty }, 'an item is handed out')
}
