/** Makes the items of a run's open positions: ahead of demand in a job, or at once for a call that finds none ready. */
import type { Logger } from 'pino'
import { Fault } from '../faults.ts'
import type { Items, MadeItem } from '../items/items.ts'
import type { Opening, Placement, Positions, Skipped } from '../store/positions.ts'
import type { Runs } from '../store/runs.ts'
import type { Steps } from '../store/steps.ts'
import type { TaskCatalogue } from '../tasks/catalogue.ts'
import type { Recipe } from '../words/recipe.ts'
import type { OpenRun } from './open-run.ts'
import { difficultyAt, learnability, plansOf, type Spot, seedAt, spotAt } from './sequence.ts'

/** Failures that say nothing of the item. */
const NOT_THE_ITEM = new Set(['engine_unavailable', 'redis_unavailable', 'redis_full'])

interface Parts {
  runs: Runs
  positions: Positions
  steps: Steps
  items: Items
  tasks: TaskCatalogue
  log: Logger
}

/** What is kept of a made item, besides its label. */
export type Body = Pick<MadeItem, 'recipe' | 'question'>

interface Claimed {
  position: number
  about: Pick<Recipe, 'task' | 'seed' | 'difficulty'>
  recipe: Promise<Recipe>
  placement: Placement | null
}

export class Preparation {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Claims up to `count` positions that lack their item; a promise each, fulfilled when it is kept, or given back: then false. */
  async begin(run: OpenRun, count: number, ahead: number): Promise<Promise<boolean>[]> {
    const { positions } = this.#parts
    const claimed = await this.#plan(run, await positions.claim(run, count, ahead))
    return this.#make(run, claimed, {
      keep: async (item, { position, placement }) =>
        void (await positions.keep(run, position, keepable(item), placement)),
      giveBack: (skipped, counts) => positions.giveBack(run, skipped, counts),
    })
  }

  /** The same for the items of a step. */
  async beginStep(run: OpenRun, step: number): Promise<Promise<boolean>[]> {
    const { steps } = this.#parts
    const claimed = await this.#plan(run, await steps.claim(run, step))
    return this.#make(run, claimed, {
      keep: async (item, { position }) => void (await steps.keep(run, step, position, keepable(item))),
      giveBack: (skipped, counts) => steps.giveBack(run, step, skipped, counts),
    })
  }

  /** The recipe of an item that was handed out before. */
  recipeAgain(run: OpenRun, position: number, task: string, label: number | null): Promise<Recipe> {
    const { settings, origin } = run
    const config = plansOf(settings, this.#parts.tasks.list()).find((plan) => plan.task === task)?.config
    const seed = seedAt({ origin, seed: settings.seed }, position)
    return this.#parts.items.checkOwn({ task, seed, index: 0, ...(config && { config }), difficulty: label })
  }

  async #plan(run: OpenRun, openings: Opening[]): Promise<Claimed[]> {
    if (openings.length === 0) return []
    const { settings, origin } = run
    const plans = plansOf(settings, this.#parts.tasks.list())
    const [levels, accuracies] = await Promise.all([
      settings.complexity_mode === 'curriculum' ? this.#parts.runs.levels(run) : {},
      settings.sampling === 'learnability' ? this.#parts.runs.accuracies(run) : undefined,
    ])
    const weightOf = accuracies && learnability(accuracies)
    return openings.map(({ position, drawn }) => {
      const before = weightOf && plans.find(({ task }) => task === drawn)
      const spot = spotAt(
        { origin, seed: settings.seed },
        before ? [before] : plans,
        position,
        before ? undefined : weightOf,
      )
      return { position, ...this.#claimed(spot, run, (levels as Awaited<ReturnType<Runs['levels']>>)[spot.plan.task]) } // {} or levels
    })
  }

  #claimed(spot: Spot, { settings }: OpenRun, level: { difficulty: number } | undefined): Omit<Claimed, 'position'> {
    const { task, config, low, high } = spot.plan
    const difficulty = difficultyAt(spot, settings, level?.difficulty)
    const follows = settings.complexity_mode === 'curriculum' && config === undefined && low < high
    return {
      about: { task, seed: spot.seed, difficulty },
      recipe: this.#parts.items.checkOwn({ task, seed: spot.seed, index: 0, ...(config && { config }), difficulty }),
      placement: follows ? { rungs: this.#parts.tasks.find(task).rungs, low, high } : null,
    }
  }

  async #make(
    run: OpenRun,
    claimed: Claimed[],
    {
      keep,
      giveBack,
    }: {
      keep: (item: MadeItem, claimed: Claimed) => Promise<void>
      giveBack: (skipped: Skipped, counts: boolean) => Promise<boolean>
    },
  ): Promise<Promise<boolean>[]> {
    const { items, log } = this.#parts
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
        const counts = !(error instanceof Fault && NOT_THE_ITEM.has(error.code))
        const skipped = skippedOf(place, error)
        const gone = await giveBack(skipped, counts).catch(() => false)
        if (gone) log.warn({ run: run.name, ...skipped }, 'an item could not be made twice, its position is skipped')
        return false
      }
    })
  }
}

function keepable({ recipe, question }: MadeItem): { task: string; label: number | null; body: string } {
  const body: Body = { recipe, question }
  return { task: recipe.task, label: recipe.difficulty, body: JSON.stringify(body) }
}

function skippedOf({ position, about }: Claimed, error: unknown): Skipped {
  return {
    position,
    ...about,
    detail: error instanceof Error ? error.message : String(error),
    time: new Date().toISOString(),
  }
}
