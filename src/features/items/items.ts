/** From recipes to items: recipes are checked, items made by the engine, their entries kept for scoring. */
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../contract/errors.ts'
import type { Item, PromptMessage } from '../../contract/item.ts'
import { decodeItemId, encodeItemId } from '../../contract/item-id.ts'
import { CLIENT_SEEDS_END, type Recipe, type RecipeInput, SEEDS_END, toRecipeOutput } from '../../contract/recipe.ts'
import type { DatasetPosition, Engine, GeneratedItem } from '../../engine/engine.ts'
import { unwrapOutcome } from '../../engine/outcome.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { DatasetEntry } from '../../scorers/scorer.ts'
import type { Ladders } from '../tasks/ladders.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import type { TaskStatisticsRecorder } from '../tasks/task-statistics.ts'
import type { ItemEntryCache } from './entry-cache.ts'
import { buildPromptMessages, DEFAULT_PROMPT_SETTINGS, type PromptSettings } from './prompt.ts'
import type { QuestionIndex } from './question-index.ts'

/** Items that this process remembers, so that neither Redis nor a host is asked again. */
const ITEM_CACHE_SIZE = 4000
/** After that they are made or read again, long before Redis forgets them. */
const ITEM_CACHE_TTL_MS = 15 * 60 * 1000

/** An item and the secret part of it. */
export interface ItemWithEntry extends GeneratedItem {
  id: string
  recipe: Recipe
}

interface ItemsDeps {
  engine: Engine
  entries: ItemEntryCache
  questions: QuestionIndex
  ladders: Ladders
  tasks: TaskCatalog
  figures: TaskStatisticsRecorder
  recorder: MetricsRecorder
}

export class Items {
  readonly #deps: ItemsDeps
  readonly #madeCache = new LRUCache<string, GeneratedItem>({
    max: ITEM_CACHE_SIZE,
    ttl: ITEM_CACHE_TTL_MS,
    ttlResolution: 1000,
  })

  /** Recipes by id, and by what a client wrote. */
  readonly #recipeCache = new LRUCache<string, Recipe>({ max: ITEM_CACHE_SIZE })

  constructor(parts: ItemsDeps) {
    this.#deps = parts
  }

  /** The checked recipe of what a client made up, or of what the server returned; the same object for equal ones. */
  async resolveRecipe(input: RecipeInput): Promise<Recipe> {
    const key = JSON.stringify(input)
    const known = this.#recipeCache.get(key)
    if (known) return known
    const recipe = await this.#resolveUncached(input)
    this.#recipeCache.set(key, recipe)
    return recipe
  }

  async #resolveUncached(input: RecipeInput): Promise<Recipe> {
    const { engine, ladders } = this.#deps
    const { task, seed, index, difficulty = null } = input
    this.#deps.tasks.require(task)
    const returned = input.engine !== undefined
    if (input.engine !== undefined && input.engine !== engine.version) throw this.#engineMismatchError(input.engine)
    if (!returned) assertConfigOrDifficulty(input)
    assertSeedBelow(seed + index, returned ? SEEDS_END : CLIENT_SEEDS_END)
    const wanted = input.config ?? (difficulty === null ? {} : ladders.configAt(task, difficulty))
    const config = Object.keys(wanted).length === 0 ? {} : await engine.canonicalizeConfig(task, wanted)
    return { task, config, difficulty, seed, index, engine: engine.version }
  }

  /** The recipe of an item that the server itself hands out: its seed may be of any range. */
  resolveServerRecipe(input: RecipeInput): Promise<Recipe> {
    return this.resolveRecipe({ ...input, engine: this.#deps.engine.version })
  }

  /** The checked recipe of an item id, which may be forged like any recipe. */
  async resolveItemId(id: string): Promise<Recipe> {
    const known = this.#recipeCache.get(id)
    if (known) return known
    const recipe = decodeItemId(id)
    if (recipe.engine !== this.#deps.engine.version) throw this.#engineMismatchError(recipe.engine)
    const checked = await this.resolveRecipe(recipe)
    if (encodeItemId(checked) !== id)
      throw new ServiceError('invalid_item_id', 'The item id does not spell a canonical recipe')
    this.#recipeCache.set(id, checked)
    return checked
  }

  /** Makes the items of checked recipes, in order; each one apart, so that a slow one does not hold up the others. */
  makeEach(recipes: Recipe[]): Promise<ItemWithEntry>[] {
    const groups = Map.groupBy(recipes.keys(), (k) => {
      const { task, config } = recipes[k] as Recipe // k is an index of recipes
      return `${task} ${JSON.stringify(config)}`
    })
    const made: Promise<ItemWithEntry>[] = []
    for (const places of groups.values()) {
      const group = [...places]
      const outcomes = this.#makeWithConfig(group.map((k) => recipes[k] as Recipe)) // as above
      group.forEach((k, at) => {
        made[k] = outcomes.then(
          (items) => items[at]?.() ?? Promise.reject(new ServiceError('internal', 'no item came')),
        )
        made[k].catch(() => {}) // met by whoever waits for it
      })
    }
    return made
  }

  make(recipes: Recipe[]): Promise<ItemWithEntry[]> {
    return Promise.all(this.makeEach(recipes))
  }

  /** Items that somebody names, in order: remembered, kept in Redis, or made. */
  async getOrCreate(recipes: Recipe[]): Promise<ItemWithEntry[]> {
    const known = recipes.map((recipe) => this.#madeCache.get(entryKey(recipe)))
    const kept = async (recipe: Recipe, k: number) => known[k] ?? this.#getStored(recipe)
    const found = known.includes(undefined) ? await Promise.all(recipes.map(kept)) : known
    const made = await this.make(recipes.filter((_, k) => !found[k]))
    let at = 0
    return recipes.map((recipe, k) => {
      const item = found[k] ? { ...found[k], id: encodeItemId(recipe), recipe } : made[at++]
      if (!item) throw new ServiceError('internal', 'no item came')
      return item
    })
  }

  async getOrCreateOne(recipe: Recipe): Promise<ItemWithEntry> {
    const [item] = await this.getOrCreate([recipe])
    if (!item) throw new ServiceError('internal', 'no item came')
    return item
  }

  async getOrCreateEntry(recipe: Recipe): Promise<DatasetEntry> {
    return (this.#madeCache.get(entryKey(recipe)) ?? (await this.getOrCreateOne(recipe))).entry
  }

  /** What a model is shown of an item. */
  async buildMessages(recipe: Recipe, prompt: PromptSettings): Promise<PromptMessage[]> {
    return buildPromptMessages((await this.getOrCreateOne(recipe)).question, prompt)
  }

  /** The item, made lately, whose question ends this text. Throws `not_found`. */
  async requireByQuestion(text: string): Promise<ItemWithEntry> {
    const id = await this.#deps.questions.getItemId(text)
    if (id === undefined) throw new ServiceError('not_found', 'No item made in the last two hours has this question')
    return this.getOrCreateOne(await this.resolveItemId(id))
  }

  /** The first item of a task with the library's defaults; null if it cannot be made in time. */
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

  /** An item as it is shown. */
  formatItem({ id, recipe, question }: Omit<ItemWithEntry, 'entry'>, prompt: PromptSettings): Item {
    return {
      id,
      task: recipe.task,
      category: this.#deps.tasks.require(recipe.task).category,
      difficulty: recipe.difficulty,
      recipe: toRecipeOutput(recipe),
      question,
      messages: buildPromptMessages(question, prompt),
    }
  }

  async #getStored(recipe: Recipe): Promise<GeneratedItem | undefined> {
    const key = entryKey(recipe)
    const kept = await this.#deps.entries.get(key).catch(() => undefined) // it can be made again
    if (kept) this.#madeCache.set(key, kept)
    return kept
  }

  async #makeWithConfig(recipes: Recipe[]): Promise<(() => Promise<ItemWithEntry>)[]> {
    const [first] = recipes
    if (!first) return []
    const started = performance.now()
    const places = recipes.map(({ seed, index }): DatasetPosition => [seed, index])
    const outcomes = await this.#deps.engine.generateItems(first.task, first.config, places)
    const ms = performance.now() - started
    this.#deps.figures.recordGeneratedItems(first.task, recipes.length, ms)
    this.#deps.recorder.recordMadeItems(first.task, recipes.length, ms)
    return outcomes.map((outcome, k) => async () => {
      const recipe = recipes[k] as Recipe // one outcome for each
      const made = unwrapOutcome(outcome) as GeneratedItem // as worker.py makes them
      const item = { ...made, id: encodeItemId(recipe), recipe }
      const key = entryKey(recipe)
      this.#madeCache.set(key, made)
      const { entries, questions } = this.#deps
      await Promise.all([entries.store(key, made), questions.store(item.question, item.id)]).catch(() => {}) // it can be made again
      return item
    })
  }

  #engineMismatchError(version: string): ServiceError {
    return new ServiceError(
      'engine_version_mismatch',
      `The item is of reasoning-gym ${version}, this server has ${this.#deps.engine.version}: take a new item`,
    )
  }
}

/** Throws `invalid_request` if both are given: only one of them could hold. `path` is where they stand in the body. */
export function assertConfigOrDifficulty(
  { config, difficulty }: { config?: unknown; difficulty?: number | null | undefined },
  path = '',
): void {
  if (config === undefined || difficulty === undefined || difficulty === null) return
  throw new ServiceError('invalid_request', 'Give either config or difficulty', {
    errors: [{ path: `${path}difficulty`, message: 'excludes config' }],
  })
}

/** The id of an item without the difficulty it was asked for: the entry is the same whatever that was. */
function entryKey(recipe: Recipe): string {
  return encodeItemId({ ...recipe, difficulty: null })
}

function assertSeedBelow(place: number, end: number): void {
  if (place < end) return
  throw new ServiceError(
    'seed_reserved',
    `seed + index must be below ${end}: what is above is kept for eval and training items`,
    {
      errors: [{ path: 'seed', message: `seed + index must be below ${end}` }],
    },
  )
}
