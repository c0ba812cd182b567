/** Makes the items of positions: ahead of demand in a job, or at once for a call that finds too few. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { Logger } from 'pino'
import { redisNow } from '../../../platform/redis/redis-clock.ts'
import type { EvalQuestions } from '../../items/eval-questions.ts'
import type { Items, ItemWithEntry } from '../../items/items.ts'
import type { RunRepository } from '../repository.ts'
import type { ResolvedRun } from '../types.ts'
import {
  type Candidate,
  findUsableItem,
  HeldOutError,
  type ItemChoice,
  NoUsableItemError,
  storeAllowedItem,
} from './allowed-items.ts'
import type { TaskVariant } from './issued-items.ts'
import { type DrawnItem, followsModel, type ItemDraws } from './item-draws.ts'
import type {
  ClaimedPosition,
  PositionFault,
  PositionRepository,
  PositionScope,
  SkippedPosition,
  StoreOutcome,
} from './positions.ts'
import { seedAt } from './sequence.ts'

/** Failures that say nothing about the item. */
const INFRASTRUCTURE_ERRORS = new Set([
  'engine_unavailable',
  'engine_version_mismatch',
  'task_code_conflict',
  'redis_unavailable',
  'redis_full',
])

/** Bounds of the number of positions that a run keeps open and made, and the number of calls that they should cover. */
const MIN_PREFETCH_TARGET = 64
const MAX_PREFETCH_TARGET = 1024
const PREFETCH_CALLS = 4
/** Share of the target below which a job makes more items. */
export const PREFETCH_REFILL_BELOW = 0.75

interface ItemPrefetcherDeps {
  runs: RunRepository
  positions: PositionRepository
  items: Items
  evalQuestions: EvalQuestions
  draws: ItemDraws
  log: Logger
}

/** The stored part of a made item, without its label. */
export type PrefetchedItemBody = Pick<ItemWithEntry, 'recipe' | 'question' | 'clarification'>

/** The parts of a recipe from which it can be rebuilt: the config only if the run's settings gave it. */
export type RecipeSource = Pick<Recipe, 'task' | 'seed' | 'difficulty'> & TaskVariant

/** The item that a claimed position calls for. */
interface PlannedItem extends DrawnItem {
  recipe: Promise<Recipe>
  retry: number
}

export class ItemPrefetcher {
  readonly #deps: ItemPrefetcherDeps

  constructor(deps: ItemPrefetcherDeps) {
    this.#deps = deps
  }

  /**
   * Claims up to `count` unmade positions and starts to make their items. Returns one promise per position, which
   * resolves to true once the item is made and to false if that failed.
   */
  async start(run: ResolvedRun, scope: PositionScope, count: number): Promise<Promise<boolean>[]> {
    const claimed = await this.#deps.positions.claim(run, scope, count)
    if (claimed.length === 0) return []
    const planned = await this.#planItems(run, claimed)
    const recipes = await Promise.allSettled(planned.map(({ recipe }) => recipe))
    const makeable = recipes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    const making = new Map(this.#deps.items.makeEach(makeable, 'run').map((item, k) => [makeable[k], item]))
    return planned.map(async (plan, k) => {
      const recipe = recipes[k]
      try {
        if (recipe?.status !== 'fulfilled') throw recipe?.reason
        const first = making.get(recipe.value)
        const make = (retry: number) => {
          plan.retry = retry
          return (retry === 0 && first) || this.#makeAgain(run, plan, recipe.value)
        }
        await this.#storeAllowedItem(run, scope, plan, make)
        return true
      } catch (error) {
        await this.#releasePosition(run, scope, plan, error).catch(() => {}) // the claim expires anyway
        return false
      }
    })
  }

  /** Rebuilds the recipes of items that were handed out before. */
  rebuildRecipes(sources: RecipeSource[]): Promise<Recipe[]> {
    return Promise.all(
      sources.map(({ task, config, seed, difficulty }) =>
        this.#deps.items.resolveServerRecipe({ task, seed, index: 0, ...(config && { config }), difficulty }),
      ),
    )
  }

  async #planItems(run: ResolvedRun, claimed: ClaimedPosition[]): Promise<PlannedItem[]> {
    const { items, draws, runs } = this.#deps
    const [levels, evidence] = await Promise.all([
      followsModel(run.settings) ? runs.readCurriculumLevels(run) : {},
      run.settings.sampling === 'learnability' ? runs.readLearnability(run) : undefined,
    ])
    return draws.draw(run, claimed, { levels, evidence }).map((drawn) => {
      const { task, seed, difficulty, config } = drawn
      const recipe = items.resolveServerRecipe({ task, seed, index: 0, ...(config && { config }), difficulty })
      return { ...drawn, recipe, retry: 0 }
    })
  }

  /** Stores the item of the first seed that has one to train on and that the run may hand out. */
  async #storeAllowedItem(
    run: ResolvedRun,
    scope: PositionScope,
    plan: PlannedItem,
    make: (retry: number) => Promise<ItemWithEntry>,
  ): Promise<void> {
    const { settings } = run
    const find = (retry: number) => findUsableItem(retry, settings.scoring, make)
    const candidate = await find(0)
    if (!settings.exclude_eval_items && !settings.avoid_repeated_items) {
      const passedOver = { evalItems: 0, repeats: 0, unanswerable: candidate.unanswerable }
      await this.#storeItem(run, scope, plan, candidate, { passedOver })
      return
    }
    await storeAllowedItem(candidate, {
      settings,
      evalQuestions: this.#deps.evalQuestions,
      findNext: (retry) => find(retry).catch(undefinedIfNoneIsUsable),
      store: (allowed, choice) => this.#storeItem(run, scope, plan, allowed, choice),
    })
  }

  async #makeAgain(
    { settings }: ResolvedRun,
    { position, retry }: PlannedItem,
    recipe: Recipe,
  ): Promise<ItemWithEntry> {
    const [item] = await this.#deps.items.make([{ ...recipe, seed: seedAt(settings.seed, position, retry) }], 'run')
    if (!item) throw new ServiceError('internal', 'The engine returned no item.')
    return item
  }

  #storeItem(
    run: ResolvedRun,
    scope: PositionScope,
    { position, placement, config, share, propensity }: PlannedItem,
    { item: { recipe, question, clarification }, retry }: Candidate,
    choice: ItemChoice,
  ): Promise<StoreOutcome> {
    const body: PrefetchedItemBody = { recipe, question, clarification }
    const { task, difficulty } = recipe
    const made = { position, task, config, difficulty, retry, propensity, share, placement, body: JSON.stringify(body) }
    return this.#deps.positions.store(run, scope, { ...made, ...choice })
  }

  async #releasePosition(
    run: ResolvedRun,
    scope: PositionScope,
    { position, task, difficulty, retry, isLastDraw }: PlannedItem,
    error: unknown,
  ): Promise<void> {
    const fault = faultOf(error)
    const skipped: SkippedPosition = {
      position,
      task,
      difficulty,
      seed: seedAt(run.settings.seed, position, retry),
      reason: fault === 'held_out' ? 'eval_item' : 'failed',
      detail: error instanceof Error ? error.message : String(error),
      time: new Date(redisNow()).toISOString(),
    }
    if (await this.#deps.positions.release(run, scope, skipped, fault, isLastDraw))
      this.#deps.log.warn(
        { run: run.name, ...skipped },
        'a position of the item sequence was skipped, because it gives no item',
      )
  }
}

function undefinedIfNoneIsUsable(error: unknown): undefined {
  if (!(error instanceof NoUsableItemError)) throw error
}

function faultOf(error: unknown): PositionFault {
  if (error instanceof HeldOutError) return 'held_out'
  return error instanceof ServiceError && INFRASTRUCTURE_ERRORS.has(error.code) ? 'ours' : 'item'
}

/** Grows with the largest call, so that the next one finds its items made. */
export function growPrefetchTarget({ counters }: ResolvedRun, count: number): number {
  const wanted = Math.min(MAX_PREFETCH_TARGET, Math.max(MIN_PREFETCH_TARGET, count * PREFETCH_CALLS))
  return Math.max(wanted, counters.prefetch_target ?? 0)
}
