/** Makes the items of a run's open positions: ahead of demand in a job, or at once for a call that finds none ready. */
import type { Logger } from 'pino'
import { ServiceError } from '../../contract/errors.ts'
import type { Recipe } from '../../contract/recipe.ts'
import type { Items, ItemWithEntry } from '../items/items.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import type { LadderBounds, PositionClaim, PositionRepository, SkippedPosition } from './position-repository.ts'
import type { RunRepository } from './repository.ts'
import type { ResolvedRun } from './resolved-run.ts'
import {
  buildTaskPlans,
  chooseDifficulty,
  learnabilityWeight,
  type SequencePoint,
  seedAt,
  sequencePointAt,
} from './sequence.ts'
import type { StepItemRepository } from './step-item-repository.ts'

/** Failures that say nothing of the item. */
const INFRASTRUCTURE_ERRORS = new Set(['engine_unavailable', 'redis_unavailable', 'redis_full'])

interface ItemPrefetcherDeps {
  runs: RunRepository
  positions: PositionRepository
  steps: StepItemRepository
  items: Items
  tasks: TaskCatalog
  log: Logger
}

/** What is kept of a made item, besides its label. */
export type PreparedItemBody = Pick<ItemWithEntry, 'recipe' | 'question'>

interface ClaimedPosition {
  position: number
  recipeSummary: Pick<Recipe, 'task' | 'seed' | 'difficulty'>
  recipe: Promise<Recipe>
  placement: LadderBounds | null
}

export class ItemPrefetcher {
  readonly #deps: ItemPrefetcherDeps

  constructor(parts: ItemPrefetcherDeps) {
    this.#deps = parts
  }

  /** Claims up to `count` positions that lack their item; a promise each, fulfilled when it is kept, or given back: then false. */
  async start(run: ResolvedRun, count: number, ahead: number): Promise<Promise<boolean>[]> {
    const { positions } = this.#deps
    const claimed = await this.#planItems(run, await positions.claimPositions(run, count, ahead))
    return this.#makeItems(run, claimed, {
      keep: async (item, { position, placement }) =>
        void (await positions.storeItem(run, position, encodePreparedItem(item), placement)),
      giveBack: (skipped, counts) => positions.releaseClaim(run, skipped, counts),
    })
  }

  /** The same for the items of a step. */
  async startStep(run: ResolvedRun, step: number): Promise<Promise<boolean>[]> {
    const { steps } = this.#deps
    const claimed = await this.#planItems(run, await steps.claimPositions(run, step))
    return this.#makeItems(run, claimed, {
      keep: async (item, { position }) => void (await steps.storeItem(run, step, position, encodePreparedItem(item))),
      giveBack: (skipped, counts) => steps.releaseClaim(run, step, skipped, counts),
    })
  }

  /** The recipe of an item that was handed out before. */
  rebuildRecipe(run: ResolvedRun, position: number, task: string, label: number | null): Promise<Recipe> {
    const { settings, origin } = run
    const config = buildTaskPlans(settings, this.#deps.tasks.list()).find((plan) => plan.task === task)?.config
    const seed = seedAt({ origin, seed: settings.seed }, position)
    return this.#deps.items.resolveServerRecipe({ task, seed, index: 0, ...(config && { config }), difficulty: label })
  }

  async #planItems(run: ResolvedRun, openings: PositionClaim[]): Promise<ClaimedPosition[]> {
    if (openings.length === 0) return []
    const { settings, origin } = run
    const plans = buildTaskPlans(settings, this.#deps.tasks.list())
    const [levels, accuracies] = await Promise.all([
      settings.complexity_mode === 'curriculum' ? this.#deps.runs.readCurriculumLevels(run) : {},
      settings.sampling === 'learnability' ? this.#deps.runs.readRecentAccuracies(run) : undefined,
    ])
    const weightOf = accuracies && learnabilityWeight(accuracies)
    return openings.map(({ position, previousTask: drawn }) => {
      const before = weightOf && plans.find(({ task }) => task === drawn)
      const spot = sequencePointAt(
        { origin, seed: settings.seed },
        before ? [before] : plans,
        position,
        before ? undefined : weightOf,
      )
      return {
        position,
        ...this.#planItem(
          spot,
          run,
          (levels as Awaited<ReturnType<RunRepository['readCurriculumLevels']>>)[spot.plan.task],
        ),
      } // {} or levels
    })
  }

  #planItem(
    spot: SequencePoint,
    { settings }: ResolvedRun,
    level: { difficulty: number } | undefined,
  ): Omit<ClaimedPosition, 'position'> {
    const { task, config, low, high } = spot.plan
    const difficulty = chooseDifficulty(spot, settings, level?.difficulty)
    const follows = settings.complexity_mode === 'curriculum' && config === undefined && low < high
    return {
      recipeSummary: { task, seed: spot.seed, difficulty },
      recipe: this.#deps.items.resolveServerRecipe({
        task,
        seed: spot.seed,
        index: 0,
        ...(config && { config }),
        difficulty,
      }),
      placement: follows ? { rungs: this.#deps.tasks.require(task).rungs, low, high } : null,
    }
  }

  async #makeItems(
    run: ResolvedRun,
    claimed: ClaimedPosition[],
    {
      keep,
      giveBack,
    }: {
      keep: (item: ItemWithEntry, claimed: ClaimedPosition) => Promise<void>
      giveBack: (skipped: SkippedPosition, counts: boolean) => Promise<boolean>
    },
  ): Promise<Promise<boolean>[]> {
    const { items, log } = this.#deps
    const checked = await Promise.allSettled(claimed.map(({ recipe }) => recipe))
    const recipes = checked.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined))
    const makeable = recipes.filter((recipe) => recipe !== undefined)
    const made = new Map(items.makeEach(makeable).map((item, k) => [makeable[k], item]))
    return claimed.map(async (place, k) => {
      const recipe = recipes[k]
      try {
        const outcome = checked[k]
        if (outcome?.status === 'rejected') throw outcome.reason
        const item = await made.get(recipe)
        if (item) await keep(item, place)
        return true
      } catch (error) {
        const counts = !(error instanceof ServiceError && INFRASTRUCTURE_ERRORS.has(error.code))
        const skipped = buildSkippedPosition(place, error)
        const gone = await giveBack(skipped, counts).catch(() => false)
        if (gone) log.warn({ run: run.name, ...skipped }, 'an item could not be made twice, its position is skipped')
        return false
      }
    })
  }
}

function encodePreparedItem({ recipe, question }: ItemWithEntry): { task: string; label: number | null; body: string } {
  const body: PreparedItemBody = { recipe, question }
  return { task: recipe.task, label: recipe.difficulty, body: JSON.stringify(body) }
}

function buildSkippedPosition({ position, recipeSummary: about }: ClaimedPosition, error: unknown): SkippedPosition {
  return {
    position,
    ...about,
    detail: error instanceof Error ? error.message : String(error),
    time: new Date().toISOString(),
  }
}
