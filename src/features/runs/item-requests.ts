/**
 * `/items`: serves the next items of a run, the items of a step, of positions or of a recipe, and single items by ID.
 */
import { z } from 'zod'
import { type Item, UnmakeableItem } from '../../contract/item.ts'
import type { ItemsRequest } from '../../contract/items-request.ts'
import type { RecipeInput } from '../../contract/recipe.ts'
import type { RunCondition } from '../../contract/run-condition.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { Idempotency } from '../../platform/redis/idempotency.ts'
import type { Items, ItemWithEntry } from '../items/items.ts'
import { DEFAULT_PROMPT_SETTINGS, PromptSettings, promptSettingsOf } from '../items/prompt.ts'
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
  /** How long to wait for the items of a step or of positions, in milliseconds. */
  waitMs: number
  /** Condition on the run that the request names. */
  condition?: RunCondition | undefined
  log: ParentLogger
}

/** The recorded result of a request for items. It is enough to repeat the response, whatever happens to the run. */
const ItemsDecision = z.strictObject({
  ids: z.array(z.string()),
  /** Indexes of the items that had been handed out before. */
  again: z.array(z.int()),
  waiting_for: z.literal('trainer').optional(),
  failed: z.array(UnmakeableItem).optional(),
  prompt: PromptSettings,
})
type ItemsDecision = z.infer<typeof ItemsDecision>

export interface ItemsAnswer extends DequeuedItems {
  /** Items of a recipe that the library cannot make. */
  failed?: UnmakeableItem[]
}

/** Items and a callback to call once the response can no longer be lost. */
interface ServedItems {
  served: ItemsAnswer
  handedOver?: () => Promise<void>
}

export type RevealedItem = Item & Pick<ItemWithEntry['entry'], 'answer' | 'metadata'>

export class ItemRequests {
  readonly #deps: ItemRequestsDeps

  constructor(deps: ItemRequestsDeps) {
    this.#deps = deps
  }

  /** Serves the items that a request selects. A repeated request with the same idempotency key gets the same items. */
  async serve(body: ItemsRequest, context: RequestContext): Promise<ItemsAnswer> {
    const { idempotency, recorder } = this.#deps
    const { callerId, idempotencyKey: key } = context
    return idempotency.runOnce<ItemsDecision, ItemsAnswer>(
      { callerId, scope: 'items', key, body },
      {
        decision: ItemsDecision,
        perform: async (token) => {
          const { served, handedOver } = await this.#getItems(body, context, token)
          recorder.recordServedItems(served.items)
          return { decision: decisionOf(served), answer: served, ...(handedOver && { onStored: handedOver }) }
        },
        replay: async (decision) => {
          await this.#assertRunCondition(body, context.condition)
          return this.#getAgain(decision)
        },
      },
    )
  }

  /** Returns an item with the prompt settings of the run, or with the defaults. */
  async get(id: string, run: string | undefined): Promise<Item> {
    return (await this.#getWithEntry(id, run)).item
  }

  /** Returns an item with its reference answer. */
  async reveal(id: string, run: string | undefined): Promise<RevealedItem> {
    const { item, entry } = await this.#getWithEntry(id, run)
    return { ...item, ...entry }
  }

  /** Returns the item, generated in the last two hours, whose question ends `text`. Throws `not_found`. */
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

  /**
   * Checks that a repeated call is for the same run as the first one. Otherwise, a trainer would post groups to a run
   * that did not issue the items.
   */
  async #assertRunCondition(request: ItemsRequest, condition: RunCondition | undefined): Promise<void> {
    if (condition !== undefined && !('task' in request)) await this.#deps.runs.require(request.run, condition)
  }

  /** Makes the items of an earlier response again from their IDs. */
  async #getAgain({ ids, again, waiting_for, failed, prompt }: ItemsDecision): Promise<ItemsAnswer> {
    const { items } = this.#deps
    const made = await items.getOrCreate(await Promise.all(ids.map((id) => items.resolveItemId(id))))
    const reissued = new Set(again)
    return {
      items: made.map((item, k) => ({
        ...items.formatItem(item, prompt),
        ...(reissued.has(k) && { again: true as const }),
      })),
      ...(waiting_for && { waiting_for }),
      ...(failed && { failed }),
    }
  }

  async #getItems(
    request: ItemsRequest,
    { waitMs, condition, log }: RequestContext,
    token: string | undefined,
  ): Promise<ServedItems> {
    const { items, runs, itemQueue } = this.#deps
    if ('task' in request) {
      const recipes = await Promise.all(expandRecipes(request).map((recipe) => items.resolveRecipe(recipe)))
      const { items: made, failed } = await items.getOrCreateMakeable(recipes)
      const formatted = made.map((item) => items.formatItem(item, DEFAULT_PROMPT_SETTINGS))
      return { served: { items: formatted, ...(failed.length > 0 && { failed }) } }
    }
    const run = await runs.getOrCreate(request.run, condition)
    if ('step' in request || 'position' in request) {
      const requested =
        'step' in request
          ? await itemQueue.requireStepItems(run, request, waitMs)
          : await itemQueue.requirePositions(run, request, waitMs)
      logServedItems(log, run, requested)
      return { served: { items: requested } }
    }
    const served = await itemQueue.next(run, request.count, token)
    logServedItems(log, run, served.items)
    return { served, ...(token !== undefined && { handedOver: () => itemQueue.forgetTaken(run, token) }) }
  }
}

function decisionOf({ items, waiting_for, failed }: ItemsAnswer): ItemsDecision {
  const [first] = items
  return {
    ids: items.map(({ id }) => id),
    again: items.flatMap((item, k) => (item.again ? [k] : [])),
    ...(waiting_for && { waiting_for }),
    ...(failed && { failed }),
    prompt: first ? promptSettingsOf(first) : DEFAULT_PROMPT_SETTINGS,
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

/** Logs tasks and difficulties for a run that logs at debug level. */
function logServedItems(log: ParentLogger, { name, settings }: ResolvedRun, items: Item[]): void {
  const { debug } = createRunLogger(log, name, settings)
  for (const { id, task, difficulty } of items) debug?.({ item_id: id, task, difficulty }, 'an item is handed out')
}
