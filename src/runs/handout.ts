/** The next items of a run: positions are claimed, items made, and what is not ready in time goes to the next call. */
import type { Logger } from 'pino'
import type { Engine } from '../engine/engine.ts'
import { Fault } from '../faults.ts'
import type { Items, MadeItem } from '../items/items.ts'
import type { Runs } from '../store/runs.ts'
import type { TaskCatalogue } from '../tasks/catalogue.ts'
import type { Item } from '../words/item.ts'
import type { Recipe } from '../words/recipe.ts'
import type { RunSettings } from '../words/run.ts'
import type { OpenRun } from './run-book.ts'
import { difficultyAt, plansOf, type Spot, spotAt } from './sequence.ts'

const READY_WITHIN_MS = 1500

interface Parts {
  engine: Engine
  runs: Runs
  items: Items
  tasks: TaskCatalogue
  log: Logger
}

export class Handout {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Up to `count` items, none twice. Throws `items_not_ready`. */
  async next(run: OpenRun, count: number): Promise<Item[]> {
    const { engine, runs, items } = this.#parts
    engine.assertReady() // a position that is claimed now would be lost
    const late = await runs.takeLate(run, count)
    const present = (item: MadeItem) => items.present(item, run.settings)
    const making = (await this.#begin(run, count - late.length)).map((item) => item.then(present))
    const { ready, rest } = await settledWithin(making, READY_WITHIN_MS)
    void this.#keepRest(run, rest)
    if (late.length + ready.length === 0 && count > 0) {
      throw new Fault('items_not_ready', 'No item was ready in time; those in the making go to the next call')
    }
    return [...late, ...ready]
  }

  async #begin(run: OpenRun, count: number): Promise<Promise<MadeItem>[]> {
    if (count <= 0) return []
    const { settings, name } = run
    const plans = plansOf(settings, this.#parts.tasks.list())
    const [first, levels] = await Promise.all([
      this.#parts.runs.claimPositions(name, count),
      this.#parts.runs.levels(run),
    ])
    const spots = Array.from({ length: count }, (_, k) => spotAt(name, settings.seed, plans, first + k))
    const recipes = spots.map((spot) => this.#recipe(spot, settings, levels[spot.plan.task]?.difficulty))
    return this.#parts.items.makeEach(await Promise.all(recipes))
  }

  #recipe(spot: Spot, settings: RunSettings, level: number | undefined): Promise<Recipe> {
    const { task, config } = spot.plan
    const difficulty = difficultyAt(spot, settings, level)
    return this.#parts.items.checkOwn({ task, seed: spot.seed, index: 0, ...(config && { config }), difficulty })
  }

  async #keepRest(run: OpenRun, rest: Promise<Item>[]): Promise<void> {
    for (const item of rest) {
      await item
        .then((late) => this.#parts.runs.putLate(run, [late]))
        .catch((error: unknown) =>
          this.#parts.log.warn({ err: error, run: run.name }, 'an item could not be made and is skipped'),
        )
    }
  }
}

/** Splits promises by whether they are fulfilled within the time; rejections count as the rest. */
async function settledWithin<T>(promises: Promise<T>[], ms: number): Promise<{ ready: T[]; rest: Promise<T>[] }> {
  const values = new Map<number, T>()
  const all = Promise.allSettled(promises.map((promise, k) => promise.then((value) => values.set(k, value))))
  const { promise: timeout, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([all, timeout])
  clearTimeout(timer)
  const ready = new Map(values) // those that come while we split belong to the rest
  return {
    ready: [...ready].toSorted(([a], [b]) => a - b).map(([, value]) => value),
    rest: promises.filter((_, k) => !ready.has(k)),
  }
}
