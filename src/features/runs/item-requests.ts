/**
 * `/items`: serves the next items of a run, the items of a step, of positions or of a recipe, and single items by ID.
 */

import type { Caller } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { type Item, type ItemsRequest, UnmakeableItem } from '@reasoning-gym-server/contract/item'
import type { RecipeInput } from '@reasoning-gym-server/contract/recipe'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import { z } from 'zod'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { Idempotency } from '../../platform/redis/idempotency.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import type { Items, ItemWithEntry } from '../items/items.ts'
import { DEFAULT_PROMPT_SETTINGS, PromptSettings } from '../items/prompt.ts'
import { createRunLogger, type ParentLogger } from './run-logger.ts'
import type { Runs } from './runs.ts'
import type { DequeuedItems, ItemQueue } from './sequence/item-queue.ts'
import type { PositionRepository } from './sequence/positions.ts'
import type { ResolvedRun } from './types.ts'

interface ItemRequestsDeps {
  items: Items
  runs: Runs
  itemQueue: ItemQueue
  positions: Pick<PositionRepository, 'getPropensity'>
  recorder: MetricsRecorder
  idempotency: Idempotency
}

interface RequestContext {
  caller: Caller
  idempotencyKey: string | undefined
  /** How long to wait for the items of a step or of positions, in milliseconds. */
  waitMs: number
  condition?: RunCondition | undefined
  log: ParentLogger
}

/** The recorded result of a request for items. It is enough to repeat the response, whatever happens to the run. */
const StoredItemsResponse = z.strictObject({
  ids: z.array(z.string()),
  /** Indexes of the items that had been handed out before. */
  again: z.array(z.int()),
  /** By index of the item, for items of a run. */
  propensities: z.array(z.number()).optional(),
  waiting_for: z.literal('trainer').optional(),
  detail: z.string().optional(),
  failed: z.array(UnmakeableItem).optional(),
  prompt: PromptSettings,
  /** Time of the call, in milliseconds. */
  at: z.number().optional(),
  /** Epoch of the run that the items are of. */
  epoch: z.int().optional(),
})
type StoredItemsResponse = z.infer<typeof StoredItemsResponse>

interface ItemsAnswer extends DequeuedItems {
  /** Items of a recipe that the library cannot make. */
  failed?: UnmakeableItem[]
}

/** Items, and a callback for the time when the response is stored and can no longer be lost. */
interface ServedItems {
  response: ItemsAnswer
  /** With which the items are shown. */
  prompt: PromptSettings
  epoch?: number
  onStored?: () => Promise<void>
}

type RevealedItem = Item & Pick<ItemWithEntry['entry'], 'answer' | 'metadata'>

export class ItemRequests {
  readonly #deps: ItemRequestsDeps

  constructor(deps: ItemRequestsDeps) {
    this.#deps = deps
  }

  /** Serves the items that a request selects. A repeated request with the same idempotency key gets the same items. */
  async serve(body: ItemsRequest, context: RequestContext, scope = 'items'): Promise<ItemsAnswer> {
    const { idempotency, recorder } = this.#deps
    const { caller, idempotencyKey: key } = context
    return idempotency.runOnce<StoredItemsResponse, ItemsAnswer>(
      { callerId: caller.id, scope, key, body },
      {
        decision: StoredItemsResponse,
        perform: async (token) => {
          const at = redisNow()
          const { response, prompt, epoch, onStored } = await this.#getItems(body, context, token)
          recorder.recordServedItems(response.items)
          const decision = { ...toStoredResponse(response), prompt, at, epoch }
          return { decision, answer: response, ...(onStored && { onStored }) }
        },
        replay: async (stored) => {
          await this.#assertRunCondition(body, context.condition)
          // items from before a rewind or a restore may belong to another caller now
          const later = await this.#findLaterScope(body, stored)
          return later === undefined || later === scope ? this.#getAgain(stored) : this.serve(body, context, later)
        },
      },
    )
  }

  /** Returns an item with the prompt settings of the run and its propensity there, or with the defaults. */
  async get(id: string, run: string | undefined): Promise<Item> {
    return (await this.#getWithEntry(id, run)).item
  }

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
    const { items, runs, positions } = this.#deps
    const known = run === undefined ? undefined : await runs.require(run)
    const found = await items.getOrCreateOne(await items.resolveItemId(id))
    const propensity = known && (await positions.getPropensity(known, found.recipe))
    const item = items.formatItem(found, known?.settings ?? DEFAULT_PROMPT_SETTINGS)
    return { item: { ...item, ...(propensity && { propensity }) }, entry: found.entry }
  }

  /**
   * Checks that a repeated call is for the same run as the first one. Otherwise, a trainer would post groups to a run
   * that did not issue the items.
   */
  async #assertRunCondition(request: ItemsRequest, condition: RunCondition | undefined): Promise<void> {
    if (condition !== undefined && !('task' in request)) await this.#deps.runs.require(request.run, condition)
  }

  /** The scope of keys since the run was rewound, restored or created again, if that was after the response. */
  async #findLaterScope(request: ItemsRequest, { at = 0, epoch }: StoredItemsResponse): Promise<string | undefined> {
    const run = 'task' in request ? undefined : await this.#deps.runs.get(request.run)
    if (!run) return undefined
    const { rewinds = 0, rewound_at = -1 } = run.counters
    const isSame = rewound_at < at && (epoch === undefined || epoch === run.epoch)
    return isSame ? undefined : `items ${run.epoch} ${rewinds}`
  }

  /** Makes the items of an earlier response again from their IDs. */
  async #getAgain({
    ids,
    again,
    propensities = [],
    waiting_for,
    detail,
    failed,
    prompt,
  }: StoredItemsResponse): Promise<ItemsAnswer> {
    const { items } = this.#deps
    const made = await items.getOrCreate(await Promise.all(ids.map((id) => items.resolveItemId(id))))
    const reissued = new Set(again)
    return {
      items: made.map((item, k) => ({
        ...items.formatItem(item, prompt),
        ...(propensities[k] && { propensity: propensities[k] }),
        ...(reissued.has(k) && { again: true as const }),
      })),
      ...(waiting_for && { waiting_for }),
      ...(detail !== undefined && { incomplete: true as const, detail }),
      ...(failed && { failed }),
    }
  }

  async #getItems(
    request: ItemsRequest,
    { caller, waitMs, condition, log }: RequestContext,
    token: string | undefined,
  ): Promise<ServedItems> {
    const { items, runs, itemQueue } = this.#deps
    if ('task' in request) {
      const recipes = await Promise.all(expandRecipes(request).map((recipe) => items.resolveRecipe(recipe)))
      const { items: made, failed } = await items.getOrCreateMakeable(recipes)
      const formatted = made.map((item) => items.formatItem(item, DEFAULT_PROMPT_SETTINGS))
      const response = { items: formatted, ...(failed.length > 0 && { failed }) }
      return { response, prompt: DEFAULT_PROMPT_SETTINGS }
    }
    const serve = async (run: ResolvedRun): Promise<ServedItems> => {
      const response = await this.#takeItems(run, request, waitMs, token)
      logServedItems(log, run, response.items)
      const isRecorded = token !== undefined && !('step' in request) && !('position' in request)
      const prompt = PromptSettings.strip().parse(run.settings)
      return {
        response,
        prompt,
        epoch: run.epoch,
        ...(isRecorded && { onStored: () => itemQueue.forgetTaken(run, token) }),
      }
    }
    const requireRun = (fresh: boolean) => runs.requireOrCreateDefault(request.run, condition, { fresh, caller })
    // The scripts reject a copy of the run that is no longer true, so one round trip is enough.
    const known = await requireRun(false)
    return serve(known).catch(async (error: unknown) => {
      if (!(error instanceof ServiceError) || error.code !== 'run_changed') throw error
      const run = await requireRun(true)
      if (run.epoch === known.epoch) throw error // rewound during the call
      return serve(run)
    })
  }

  async #takeItems(
    run: ResolvedRun,
    request: Exclude<ItemsRequest, { task: string }>,
    waitMs: number,
    token: string | undefined,
  ): Promise<DequeuedItems> {
    const { itemQueue } = this.#deps
    if ('step' in request) return { items: await itemQueue.requireStepItems(run, request, waitMs) }
    if ('position' in request) return { items: await itemQueue.requirePositions(run, request, waitMs) }
    return itemQueue.next(run, request.count, token)
  }
}

function toStoredResponse({ items, waiting_for, detail, failed }: ItemsAnswer): Omit<StoredItemsResponse, 'prompt'> {
  const [first] = items
  return {
    ids: items.map(({ id }) => id),
    again: items.flatMap((item, k) => (item.again ? [k] : [])),
    ...(first?.propensity && { propensities: items.map(({ propensity = 0 }) => propensity) }),
    ...(waiting_for && { waiting_for }),
    ...(detail !== undefined && { detail }),
    ...(failed && { failed }),
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
