/** Finds the item that a reset requests: by ID, position, recipe or seed, the next item of a run, or a random item. */
import { createHash, randomInt } from 'node:crypto'
import { isTemporaryFailure, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Item } from '@reasoning-gym-server/contract/item'
import { CLIENT_SEEDS_END, type RecipeInput } from '@reasoning-gym-server/contract/recipe'
import { type Items, isMakeFailure } from '../../items/items.ts'
import { DEFAULT_PROMPT_SETTINGS, type PromptSettings } from '../../items/prompt.ts'
import type { ResolvedRun } from '../../runs/resolved-run.ts'
import type { Runs } from '../../runs/runs.ts'
import type { ItemQueue } from '../../runs/sequence/item-queue.ts'
import type { TaskCatalog } from '../../tasks/task-catalog.ts'
import { FrameRejection } from './frames.ts'
import type { ItemSeries, ResetTarget } from './reset-request.ts'

/** Number of attempts at a random item. Some tasks have no item for some seeds. */
const RANDOM_ATTEMPTS = 5
/** Timeout of one attempt to get an item that is still being made; the reset retries. */
const POSITION_WAIT_MS = 5000

interface EpisodeItemsDeps {
  items: Items
  tasks: TaskCatalog
  runs: Runs
  itemQueue: ItemQueue
}

export interface FoundItem {
  item: Item
  prompt: PromptSettings
  /** Series from which a reset without arguments continues. */
  series?: ItemSeries
}

export class EpisodeItems {
  readonly #deps: EpisodeItemsDeps

  constructor(deps: EpisodeItemsDeps) {
    this.#deps = deps
  }

  /** `before` is the series of the connection. Throws FrameRejection or ServiceError. */
  async find(runName: string | undefined, target: ResetTarget, before: ItemSeries | undefined): Promise<FoundItem> {
    const { runs } = this.#deps
    const run = runName === undefined ? undefined : await runs.getOrCreate(runName)
    const prompt = run?.settings ?? DEFAULT_PROMPT_SETTINGS
    switch (target.kind) {
      case 'item':
        return { item: await this.#getById(target.itemId, prompt), prompt }
      case 'series':
        return { item: await this.#getByRecipe(target.series.recipe, prompt), prompt, series: target.series }
      case 'position':
        return { item: await this.#getAtPosition(run, target.position), prompt }
      case 'seed':
        return run
          ? { item: await this.#getAtPosition(run, target.seed), prompt }
          : { item: await this.#getByRecipe(this.#recipeOfSeed(target.seed), prompt), prompt }
      case 'next':
        return run ? { item: await this.#getNext(run), prompt } : this.#getFurther(before)
    }
  }

  async #getById(itemId: string, prompt: PromptSettings): Promise<Item> {
    const { items } = this.#deps
    return items.formatItem(await items.getOrCreateOne(await items.resolveItemId(itemId)), prompt)
  }

  async #getByRecipe(recipe: RecipeInput, prompt: PromptSettings): Promise<Item> {
    const { items } = this.#deps
    return items.formatItem(await items.getOrCreateOne(await items.resolveRecipe(recipe)), prompt)
  }

  async #getAtPosition(run: ResolvedRun | undefined, position: number): Promise<Item> {
    if (!run)
      throw new FrameRejection('VALIDATION_ERROR', 'A position is of a run: connect to /openenv/{run}, or give a task')
    const [item] = await this.#deps.itemQueue.requirePositions(run, { position, count: 1 }, POSITION_WAIT_MS)
    if (!item) throw new ServiceError('internal', `position ${position} has no item`)
    return item
  }

  async #getNext(run: ResolvedRun): Promise<Item> {
    const { items, waiting_for } = await this.#deps.itemQueue.next(run, 1)
    const [item] = items
    if (item) return item
    const reason = waiting_for ? 'max_groups_ahead of the run is reached' : 'no item is ready'
    throw new ServiceError('items_not_ready', `The run has no further item at the moment: ${reason}`)
  }

  /** Without a run, returns the next item of the connection's series, or a random item. */
  async #getFurther(series: ItemSeries | undefined): Promise<FoundItem> {
    const prompt = DEFAULT_PROMPT_SETTINGS
    if (!series) return { item: await this.#getRandom(prompt), prompt }
    const { recipe, size } = series
    const index = size === undefined ? recipe.index + 1 : (recipe.index + 1) % size
    const next = { ...series, recipe: { ...recipe, index } }
    return { item: await this.#getByRecipe(next.recipe, prompt), prompt, series: next }
  }

  async #getRandom(prompt: PromptSettings): Promise<Item> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#getByRecipe(this.#recipeOfSeed(randomInt(CLIENT_SEEDS_END)), prompt)
      } catch (error) {
        const mayBeLuck = isMakeFailure(error) || isTemporaryFailure(error)
        if (!mayBeLuck || attempt === RANDOM_ATTEMPTS) throw error
      }
    }
  }

  /** Derives the task from the seed as well, so that equal seeds give equal items. */
  #recipeOfSeed(seed: number): RecipeInput {
    const names = this.#deps.tasks
      .list()
      .map(({ name }) => name)
      .toSorted()
    const chosen = createHash('sha256').update(`openenv/${seed}`).digest().readUInt32BE() % names.length
    return { task: names[chosen] ?? '', seed: seed % CLIENT_SEEDS_END, index: 0 }
  }
}
