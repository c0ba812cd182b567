/** Makes items from recipes with the engine and caches them for scoring, together with their reference entries. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Item, PromptMessage, UnmakeableItem } from '@reasoning-gym-server/contract/item'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { type Recipe, type RecipeInput, toRecipeOutput } from '@reasoning-gym-server/contract/recipe'
import { getClarification } from '@reasoning-gym-server/scorers/corrections/corrections'
import type { DatasetEntry } from '@reasoning-gym-server/scorers/scorer'
import { LRUCache } from 'lru-cache'
import {
  type DatasetPosition,
  type Engine,
  type EngineOutcome,
  type GeneratedItem,
  NoResultError,
  unwrapOutcome,
  type WorkKind,
} from '../../engine/engine.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { Ladders } from '../tasks/ladders.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import type { TaskStatisticsRecorder } from '../tasks/task-details.ts'
import type { ItemEntryCache, QuestionIndex } from './entry-cache.ts'
import { buildPromptMessages, DEFAULT_PROMPT_SETTINGS, type PromptSettings } from './prompt.ts'
import { RecipeResolver } from './recipe-resolver.ts'

/** Number of items that this process caches to avoid further requests to Redis and to Python workers. */
const ITEM_CACHE_SIZE = 4000
/** Total characters of the cached items' questions. The entries are of about the same size. */
const ITEM_CACHE_QUESTION_CHARS = 32 * 1024 * 1024
/** Lifetime of cached items, much shorter than in Redis. */
const ITEM_CACHE_TTL_MS = 15 * 60 * 1000

interface ClarifiedItem extends GeneratedItem {
  /** Null where the question has one reading. */
  clarification: string | null
}

/** An item with its reference entry, which never leaves the server. */
export interface ItemWithEntry extends ClarifiedItem {
  id: string
  recipe: Recipe
}

interface ItemsDeps {
  engine: Engine
  entries: ItemEntryCache
  questions: QuestionIndex
  ladders: Ladders
  tasks: TaskCatalog
  statistics: TaskStatisticsRecorder
  recorder: MetricsRecorder
}

export class Items {
  readonly #deps: ItemsDeps
  readonly #cache = new LRUCache<string, ClarifiedItem>({
    max: ITEM_CACHE_SIZE,
    maxSize: ITEM_CACHE_QUESTION_CHARS,
    sizeCalculation: ({ question }) => question.length + 1,
    ttl: ITEM_CACHE_TTL_MS,
    ttlResolution: 1000,
  })
  /** Items that are being made, by entry key. */
  readonly #inFlight = new Map<string, Promise<ClarifiedItem>>()
  readonly #recipes: RecipeResolver

  constructor(deps: ItemsDeps) {
    this.#deps = deps
    this.#recipes = new RecipeResolver(deps)
  }

  /** Resolves a recipe that a client wrote or the server returned. RecipeResolver describes its identity. */
  resolveRecipe(input: RecipeInput): Promise<Recipe> {
    return this.#recipes.resolve(input)
  }

  /** Resolves the recipe of an item that the server itself chooses. Its seed may be in any range. */
  resolveServerRecipe(input: RecipeInput): Promise<Recipe> {
    return this.#recipes.resolveOwn(input)
  }

  resolveItemId(id: string): Promise<Recipe> {
    return this.#recipes.resolveItemId(id)
  }

  /**
   * Makes the items of resolved recipes, in order. Each has its own promise, so that a slow one does not delay the others.
   * An item that another call is making is not made again.
   */
  makeEach(recipes: Recipe[], work: WorkKind = 'recipe'): Promise<ItemWithEntry>[] {
    const missing = new Map(recipes.map((recipe) => [entryKey(recipe), recipe]))
    for (const key of missing.keys()) if (this.#inFlight.has(key)) missing.delete(key)
    const groups = Map.groupBy(missing, ([, { task, engine, config }]) => `${task} ${engine} ${JSON.stringify(config)}`)
    for (const group of groups.values()) this.#startMaking(group, work)
    return recipes.map((recipe) => {
      const item = this.#awaitMaking(recipe)
      item.catch(() => {}) // the caller handles it when it awaits this item
      return item
    })
  }

  make(recipes: Recipe[], work: WorkKind = 'recipe'): Promise<ItemWithEntry[]> {
    return Promise.all(this.makeEach(recipes, work))
  }

  /** Returns items in the order of their recipes, from this process's cache, from Redis, or newly made. */
  async getOrCreate(recipes: Recipe[], work: WorkKind = 'recipe'): Promise<ItemWithEntry[]> {
    return Promise.all(await this.getOrStartEach(recipes, work))
  }

  /** As `getOrCreate`, without the items that the library cannot make. Throws `make_failed` if no item is left. */
  async getOrCreateMakeable(recipes: Recipe[]): Promise<{ items: ItemWithEntry[]; failed: UnmakeableItem[] }> {
    const outcomes = await Promise.allSettled(await this.getOrStartEach(recipes))
    const items = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    const failed = outcomes.flatMap((outcome, k) => {
      if (outcome.status === 'fulfilled') return []
      if (items.length === 0 || !isMakeFailure(outcome.reason)) throw outcome.reason
      const { seed, index } = recipes[k] as Recipe // one outcome for each
      return [{ seed, index, detail: outcome.reason.message }]
    })
    return { items, failed }
  }

  /** Gets or makes items, each with its own promise. */
  async getOrStartEach(recipes: Recipe[], work: WorkKind = 'recipe'): Promise<Promise<ItemWithEntry>[]> {
    const cached = recipes.map((recipe) => this.#cache.get(entryKey(recipe)))
    const available = cached.includes(undefined)
      ? await Promise.all(recipes.map(async (recipe, k) => cached[k] ?? this.#getStored(recipe)))
      : cached
    const made = this.makeEach(
      recipes.filter((_, k) => !available[k]),
      work,
    )
    let nextMade = 0
    return recipes.map((recipe, k) => {
      const item = available[k] ? { ...available[k], id: encodeItemId(recipe), recipe } : made[nextMade++]
      return item ? Promise.resolve(item) : Promise.reject(new ServiceError('internal', 'The engine returned no item.'))
    })
  }

  async getOrCreateOne(recipe: Recipe, work: WorkKind = 'recipe'): Promise<ItemWithEntry> {
    const [item] = await this.getOrCreate([recipe], work)
    if (!item) throw new ServiceError('internal', 'The engine returned no item.')
    return item
  }

  async getOrCreateEntry(recipe: Recipe): Promise<DatasetEntry> {
    return (this.#cache.get(entryKey(recipe)) ?? (await this.getOrCreateOne(recipe, 'score'))).entry
  }

  /** Returns the question of an item that this process has cached. */
  getCachedQuestion(recipe: Recipe): string | undefined {
    return this.#cache.get(entryKey(recipe))?.question
  }

  /** Builds the prompt of an item. */
  async buildMessages(recipe: Recipe, prompt: PromptSettings): Promise<PromptMessage[]> {
    return buildPromptMessages(await this.getOrCreateOne(recipe), prompt)
  }

  /** Returns the recently made item whose question is at the end of `text`, with or without its clarification. Throws `not_found`. */
  async requireByQuestion(text: string): Promise<ItemWithEntry> {
    const found = await this.#findByQuestion(text)
    if (found) return found
    const end = text.lastIndexOf('\n\n')
    const clarified = end === -1 ? undefined : await this.#findByQuestion(text.slice(0, end))
    if (clarified?.clarification && clarified.clarification === text.slice(end + 2)) return clarified
    throw new ServiceError(
      'not_found',
      'No item that was made in the last two hours has this question. Send the question exactly as it was returned.',
    )
  }

  async #findByQuestion(text: string): Promise<ItemWithEntry | undefined> {
    const id = await this.#deps.questions.getItemId(text)
    return id === undefined ? undefined : this.getOrCreateOne(await this.resolveItemId(id))
  }

  /** Returns the first item of a task with the library's defaults, or null if it cannot be made in time. */
  async getExample(task: string): Promise<Item | null> {
    try {
      return this.formatItem(
        await this.getOrCreateOne(await this.resolveRecipe({ task, seed: 0, index: 0 })),
        DEFAULT_PROMPT_SETTINGS,
      )
    } catch {
      return null
    }
  }

  /** Returns the public part of an item. */
  formatItem({ id, recipe, question, clarification }: Omit<ItemWithEntry, 'entry'>, prompt: PromptSettings): Item {
    return {
      id,
      task: recipe.task,
      category: this.#deps.tasks.require(recipe.task).category,
      difficulty: recipe.difficulty,
      recipe: toRecipeOutput(recipe),
      question,
      clarification,
      messages: buildPromptMessages({ question, clarification }, prompt),
    }
  }

  async #getStored(recipe: Recipe): Promise<ClarifiedItem | undefined> {
    const key = entryKey(recipe)
    const stored = await this.#deps.entries.get(key).catch(() => undefined) // it can be made again
    if (stored) this.#cache.set(key, clarify(recipe, stored))
    return this.#cache.get(key) // another call may have made it in the meantime
  }

  /** Starts to make the items of recipes with the same config, given with their entry keys. */
  #startMaking(recipes: [key: string, recipe: Recipe][], work: WorkKind): void {
    const outcomes = this.#generate(
      recipes.map(([, recipe]) => recipe),
      work,
    )
    for (const [k, [key, recipe]] of recipes.entries()) {
      const item = this.#store(key, recipe, outcomes[k])
      this.#inFlight.set(key, item)
      item.catch(() => {}).finally(() => this.#inFlight.delete(key)) // callers handle the error
    }
  }

  async #awaitMaking(recipe: Recipe): Promise<ItemWithEntry> {
    const made = await this.#inFlight.get(entryKey(recipe))
    if (!made) throw new ServiceError('internal', 'The engine returned no item.')
    return { ...made, id: encodeItemId(recipe), recipe }
  }

  #generate(recipes: Recipe[], work: WorkKind): Promise<EngineOutcome>[] {
    const { engine, statistics, recorder } = this.#deps
    const [first] = recipes
    if (!first) return []
    const started = performance.now()
    const positions = recipes.map(({ seed, index }): DatasetPosition => [seed, index])
    const outcomes = engine.generateEach(first.task, first.config, positions, first.engine, work)
    void Promise.all(outcomes).then(() => {
      const ms = performance.now() - started
      statistics.recordGeneratedItems(first.task, recipes.length, ms)
      recorder.recordMadeItems(first.task, recipes.length, ms)
    })
    return outcomes
  }

  /** Caches a made item, or throws the reason for its absence. */
  async #store(key: string, recipe: Recipe, outcome: Promise<EngineOutcome> | undefined): Promise<ClarifiedItem> {
    const made = clarify(recipe, unwrapOutcome(await outcome) as GeneratedItem) // the fields that worker.py returns
    this.#cache.set(key, made)
    const { entries, questions } = this.#deps
    const stored = [entries.store(key, made), questions.store(made.question, encodeItemId(recipe))]
    await Promise.all(stored).catch(() => {}) // it can be made again
    return made
  }
}

/** Whether the item cannot be made, now or later. */
export function isMakeFailure(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'make_failed'
}

/** Whether its maker raises, which it does on every node and at once. Another seed may give an item. */
export function isSeedFailure(error: unknown): error is ServiceError {
  return isMakeFailure(error) && !(error instanceof NoResultError)
}

function clarify({ task }: Recipe, made: GeneratedItem): ClarifiedItem {
  return { ...made, clarification: getClarification(task, made.entry) }
}

/** Returns the item ID without its difficulty label. Items that differ only in the label have the same entry. */
function entryKey(recipe: Recipe): string {
  return encodeItemId({ ...recipe, difficulty: null })
}
