/** Provides suites: frozen lists of recipes in the project's files, and lists that a request or a run defines. */
import { createHash, randomInt } from 'node:crypto'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { decodeItemId, encodeItemId } from '@reasoning-gym-server/contract/item-id'
import {
  EVAL_SEEDS_START,
  type RecipeInput,
  TRAINING_SEEDS_START,
  toRecipeOutput,
} from '@reasoning-gym-server/contract/recipe'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { CustomSuite, Suite, SuiteSummary } from '@reasoning-gym-server/contract/suite'
import { LRUCache } from 'lru-cache'
import { hashQuestion, readStruckItems, readSuiteLines, readSuiteManifest } from '../items/eval-questions.ts'
import type { Items, ItemWithEntry } from '../items/items.ts'
import { assertConfigOrDifficulty } from '../items/recipe-resolver.ts'
import { buildTaskPlans } from '../runs/sequence/sequence.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'

const MAX_ITEMS = 20_000
/** Number of items to create at once, enough to keep the engine busy. */
export const ITEM_CONCURRENCY = 32

/** Signals that an item differs from the one that the suite was frozen with, so scores on it would be meaningless. */
export class ItemChangedError extends Error {}

export interface SuiteItem {
  id: string
  /** Hash of the question, or undefined if the item has not been created yet. */
  questionHash: string | undefined
}

export class Suites {
  readonly #items: Items
  readonly #tasks: TaskCatalog
  readonly #manifest = readSuiteManifest()
  readonly #cache = new LRUCache<string, SuiteItem[]>({ max: 8 })

  constructor(items: Items, tasks: TaskCatalog) {
    this.#items = items
    this.#tasks = tasks
  }

  list(): SuiteSummary[] {
    return this.#manifest
  }

  /** Returns a suite. Throws `unknown_suite`. */
  require(name: string): SuiteSummary {
    const suite = this.#manifest.find((one) => one.name === name)
    if (suite) return suite
    const names = this.#manifest.map((one) => one.name).join(', ')
    throw new ServiceError('unknown_suite', `There is no suite ${JSON.stringify(name)}. The suites are: ${names}.`, {
      missing: { kind: 'suite', name },
    })
  }

  /** Lists the items of a frozen suite. Throws `unknown_suite`. */
  listItems(name: string): SuiteItem[] {
    const suite = this.require(name)
    let items = this.#cache.get(name)
    if (!items) {
      items = readSuiteLines(suite).map(parseSuiteItem)
      this.#cache.set(name, items)
    }
    return items
  }

  /** Returns the item itself. Throws an `ItemChangedError`, or the error that prevented its creation. */
  async getOrCreateItem({ id, questionHash }: SuiteItem): Promise<ItemWithEntry> {
    const item = await this.#items.getOrCreateOne(await this.#items.resolveItemId(id))
    if (questionHash !== undefined && hashQuestion(item.question) !== questionHash)
      throw new ItemChangedError(`The question of item ${id} differs from the one that the suite was frozen with`)
    return item
  }

  listRecipes(name: string): (ReturnType<typeof toRecipeOutput> & { id: string })[] {
    return this.listItems(name).map(({ id }) => ({ ...toRecipeOutput(decodeItemId(id)), id }))
  }

  listStruck(name: string): Suite['struck'] {
    return readStruckItems(name)
  }

  /** Builds the items that a request defines. Throws `unknown_task` and the errors that reject a recipe. */
  async buildCustom(suite: CustomSuite): Promise<SuiteItem[]> {
    const { n, difficulty, config, seed } = suite
    const recipe = { ...(config && { config }), difficulty: difficulty ?? null }
    return this.#buildItems(
      this.listTasks(suite).flatMap((task) => range(n).map((index) => ({ task, seed, index, ...recipe }))),
    )
  }

  async buildItem(recipe: { task: string; seed: number; index: number; difficulty: number }): Promise<string> {
    const [item] = await this.#buildItems([recipe])
    return item?.id ?? ''
  }

  /** Lists the selected tasks, or all tasks if neither tasks nor categories are given. Throws `unknown_task`. */
  listTasks({ tasks, categories = [], difficulty, config }: Omit<CustomSuite, 'n' | 'seed'>): string[] {
    assertConfigOrDifficulty({ config, difficulty }, 'suite.')
    const wanted = new Set([...(tasks ?? []), ...categories.map((name) => `category:${name}`)])
    for (const choice of wanted) this.#tasks.assertKnown(choice)
    return this.#tasks
      .list()
      .filter((task) => wanted.size === 0 || wanted.has(task.name) || wanted.has(`category:${task.category}`))
      .map(({ name }) => name)
  }

  /** Builds the suite of a run: its tasks at the difficulty at which training starts, the same for the whole run. */
  buildForRun(settings: RunSettings): Promise<SuiteItem[]> {
    const { num_eval_samples_per_task: n, eval_seed: seed, complexity_mode, difficulty: fixed } = settings
    const recipes = buildTaskPlans(settings, this.#tasks.list())
      .filter(({ weight }) => weight > 0)
      .flatMap(({ task, config, low, high }) => {
        const narrowed = low > 0 || high < 1
        const startDifficulty = complexity_mode === 'fixed' ? Math.min(Math.max(fixed, low), high) : (low + high) / 2
        const difficulty = config === undefined && (narrowed || complexity_mode === 'fixed') ? startDifficulty : null
        return range(n).map((index) => ({ task, seed, index, ...(config && { config }), difficulty }))
      })
    return this.#buildItems(recipes)
  }

  /** Builds items from recipes. Seeds of eval items start where those of clients end. */
  async #buildItems(recipes: (Omit<RecipeInput, 'engine'> & { seed: number; index: number })[]): Promise<SuiteItem[]> {
    if (recipes.length > MAX_ITEMS)
      throw new ServiceError(
        'invalid_request',
        `This suite would have ${recipes.length} items, but the limit is ${MAX_ITEMS}. Lower n, or name fewer tasks.`,
      )
    const items: SuiteItem[] = []
    for (const recipe of recipes) {
      const seed = EVAL_SEEDS_START + recipe.seed
      if (seed + recipe.index >= TRAINING_SEEDS_START)
        throw new ServiceError(
          'seed_reserved',
          'The sum of suite.seed and n is in the range reserved for training items. Use a smaller seed.',
        )
      const id = encodeItemId(await this.#items.resolveServerRecipe({ ...recipe, seed }))
      items.push({ id, questionHash: undefined })
    }
    return items
  }
}

/** Computes the SHA-256 of a suite's lines, `id TAB sha256(question)`. */
export function computeSuiteHash(items: { id: string; questionHash: string }[]): string {
  const hash = createHash('sha256')
  for (const { id, questionHash } of items) hash.update(`${id}\t${questionHash}\n`)
  return hash.digest('hex')
}

/** Draws an item of the same task and config that no suite has. */
export function drawTwin({ id }: SuiteItem): SuiteItem {
  const seed = randomInt(EVAL_SEEDS_START, TRAINING_SEEDS_START)
  return { id: encodeItemId({ ...decodeItemId(id), seed }), questionHash: undefined }
}

export function encodeSuiteItem({ id, questionHash }: SuiteItem): string {
  return questionHash === undefined ? id : `${id}\t${questionHash}`
}

export function parseSuiteItem(line: string): SuiteItem {
  const [id = '', questionHash] = line.split('\t')
  return { id, questionHash }
}

function range(n: number): number[] {
  return Array.from({ length: n }, (_, k) => k)
}
