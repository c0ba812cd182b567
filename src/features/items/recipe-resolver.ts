/** Validates recipes of clients and of the server, and adds the canonical config and the engine version. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { decodeItemId, encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { CLIENT_SEEDS_END, type Recipe, type RecipeInput, SEEDS_END } from '@reasoning-gym-server/contract/recipe'
import { LRUCache } from 'lru-cache'
import type { Engine } from '../../engine/engine.ts'
import type { Ladders } from '../tasks/ladders.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'

const RECIPE_CACHE_SIZE = 4000

interface RecipeResolverDeps {
  engine: Pick<Engine, 'version' | 'versionOf' | 'canonicalizeConfig'>
  ladders: Ladders
  tasks: TaskCatalog
}

/**
 * Resolves recipes. Equal recipes resolve to the same frozen object as long as it is cached, however they were written.
 * Other caches (the grader's rules) rely on that identity to look up a recipe without encoding it. An equal copy would
 * be correct but slow, so a test checks the identity.
 */
export class RecipeResolver {
  readonly #deps: RecipeResolverDeps
  /** The one object of each recipe, by item ID. */
  readonly #recipes = new LRUCache<string, Recipe>({ max: RECIPE_CACHE_SIZE })
  /** Item IDs by the JSON of the input, so that it is not validated twice. */
  readonly #idsByInput = new LRUCache<string, string>({ max: RECIPE_CACHE_SIZE })

  constructor(deps: RecipeResolverDeps) {
    this.#deps = deps
  }

  /** Resolves a recipe that a client wrote or the server returned. */
  async resolve(input: RecipeInput): Promise<Recipe> {
    this.#deps.tasks.assertUsable(input.task)
    const key = `${this.#deps.engine.versionOf(input.task)} ${JSON.stringify(input)}`
    const cachedId = this.#idsByInput.get(key)
    const cached = cachedId === undefined ? undefined : this.#recipes.get(cachedId)
    if (cached) return cached
    const recipe = await this.#check(input)
    const id = encodeItemId(recipe)
    this.#idsByInput.set(key, id)
    return this.#intern(id, recipe)
  }

  /** Resolves the recipe of an item that the server itself chooses. Its seed may be in any range. */
  resolveOwn(input: RecipeInput): Promise<Recipe> {
    return this.resolve({ ...input, engine: this.#deps.engine.versionOf(input.task) })
  }

  /** Resolves the recipe that an item ID encodes. An ID may be forged, so it is validated like any recipe. */
  async resolveItemId(id: string): Promise<Recipe> {
    const cached = this.#recipes.get(id)
    if (cached && this.#isCurrent(cached)) return cached
    const decoded = decodeItemId(id)
    this.#deps.tasks.assertUsable(decoded.task)
    this.#assertVersion(decoded.task, decoded.engine)
    const recipe = await this.resolve(decoded)
    if (encodeItemId(recipe) !== id)
      throw new ServiceError(
        'invalid_item_id',
        'The item ID does not encode a canonical recipe. Send it exactly as POST /items returned it.',
      )
    return recipe
  }

  #intern(id: string, recipe: Recipe): Recipe {
    const cached = this.#recipes.get(id)
    if (cached) return cached
    const frozen = Object.freeze({ ...recipe, config: Object.freeze(recipe.config) })
    this.#recipes.set(id, frozen)
    return frozen
  }

  async #check(input: RecipeInput): Promise<Recipe> {
    const { engine, ladders, tasks } = this.#deps
    const { task, seed, index, difficulty = null } = input
    tasks.require(task)
    const isFromServer = input.engine !== undefined
    if (isFromServer) this.#assertVersion(task, input.engine)
    else assertConfigOrDifficulty(input)
    assertSeedBelow(seed + index, isFromServer ? SEEDS_END : CLIENT_SEEDS_END)
    const fields = input.config ?? (difficulty === null ? {} : ladders.configAt(task, difficulty))
    const config = Object.keys(fields).length === 0 ? {} : await engine.canonicalizeConfig(task, fields)
    return { task, config, difficulty, seed, index, engine: engine.versionOf(task) }
  }

  #isCurrent({ task, engine }: Recipe): boolean {
    return engine === this.#deps.engine.versionOf(task) && this.#deps.tasks.isUsable(task)
  }

  #assertVersion(task: string, version: string | undefined): void {
    const { engine, tasks } = this.#deps
    const current = engine.versionOf(task)
    if (version === current) return
    if (version?.includes('+')) tasks.assertLoaded() // it may be the version of a custom task
    const [library] = version?.split('+', 1) ?? []
    throw new ServiceError(
      'engine_version_mismatch',
      library === engine.version
        ? `The item was made with other code of the task ${task} (${version}), but this server has ${current}. Create a new item.`
        : `The item was made with reasoning-gym ${version}, but this server runs ${engine.version}. Create a new item.`,
    )
  }
}

/**
 * Throws `invalid_request` if both are given, because only one of them can apply. `path` is their place in the body.
 */
export function assertConfigOrDifficulty(
  { config, difficulty }: { config?: unknown; difficulty?: number | null | undefined },
  path = '',
): void {
  if (config === undefined || difficulty === undefined || difficulty === null) return
  throw new ServiceError('invalid_request', 'Both config and difficulty are given. Give one of them, or neither.', {
    errors: [{ path: `${path}difficulty`, message: 'cannot be combined with config' }],
  })
}

function assertSeedBelow(seedPlusIndex: number, end: number): void {
  if (seedPlusIndex < end) return
  throw new ServiceError(
    'seed_reserved',
    `The sum of seed and index must be below ${end}. Higher values are reserved for eval and training items.`,
    { errors: [{ path: 'seed', message: `The sum of seed and index must be below ${end}` }] },
  )
}
