/** Makes the items of rows in order, ahead of the reader. A row's item depends only on the data set. */
import type { DatasetQuery } from '@reasoning-gym-server/contract/dataset'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Recipe, RecipeInput } from '@reasoning-gym-server/contract/recipe'
import { type RunSettings, resolveSettings, type SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { isAnswerable } from '@reasoning-gym-server/scorers/corrections/corrections'
import type { Engine } from '../../../engine/engine.ts'
import { type EvalQuestions, hashQuestion, shortenQuestionHash } from '../../items/eval-questions.ts'
import { type Items, type ItemWithEntry, isSeedFailure } from '../../items/items.ts'
import type { TaskFrontiers } from '../../runs/curriculum/task-frontiers.ts'
import { sequencePointAt } from '../../runs/sequence/item-draws.ts'
import {
  buildTaskPlans,
  chooseDifficulty,
  SEEDS_PER_POSITION,
  seedAt,
  type TaskPlan,
} from '../../runs/sequence/sequence.ts'
import type { TaskCatalog } from '../../tasks/task-catalog.ts'
import { retryUntil } from '../trainer-calls.ts'

/**
 * Window sizes. The first window is small because data loaders read the first rows and stop; the others fill the Python
 * workers.
 */
const FIRST_WINDOW_ROWS = 16
const WINDOW_ROWS = 64
/** Time for which a temporary failure of the server is retried before the download is aborted. */
const RETRY_MS = 60_000

export interface RowItem extends Pick<ItemWithEntry, 'id' | 'recipe' | 'question' | 'clarification'> {
  row: number
}

interface RowItemsDeps {
  items: Items
  evalQuestions: EvalQuestions
}

/** Makes the item of a row; `first` is one that is already being made. */
type MakeRow = (row: number, first: Promise<ItemWithEntry>, signal: AbortSignal) => Promise<ItemWithEntry>

interface RowSource {
  recipeOf: (row: number) => Promise<Recipe>
  make: MakeRow
}

export class RowItems {
  readonly #deps: RowItemsDeps
  /** Windows that are being made, by entity tag and row: data loaders of all ranks read the same data set at once. */
  readonly #windows = new SharedWork<string>()

  constructor(deps: RowItemsDeps) {
    this.#deps = deps
  }

  /**
   * Makes training items. A seed that has no item to train on, or whose question is in a frozen suite, is replaced by
   * another.
   */
  ofPlan(plan: TrainingPlan, rows: RowRange): AsyncGenerator<string> {
    const resolve = (row: number, attempt: RowAttempt) =>
      this.#deps.items.resolveServerRecipe(plan.recipeAt(row, attempt))
    const make: MakeRow = async (row, first, signal) => {
      let reason = ''
      for (let attempt: RowAttempt | undefined = FIRST_ATTEMPT; attempt; attempt = plan.nextAttempt(attempt)) {
        const started: Promise<ItemWithEntry> | undefined = attempt === FIRST_ATTEMPT ? first : undefined
        const recipe = await resolve(row, attempt)
        try {
          const item = await this.#makePatiently(recipe, started, signal)
          const flaw = this.#findFlaw(item, plan)
          if (flaw === undefined) return item
          reason = flaw
        } catch (error) {
          if (!isSeedFailure(error)) throw error
          reason = error.message
        }
      }
      throw new ServiceError(
        'make_failed',
        `Row ${row} has no item to train on: ${reason}. Leave out its task, or change the config.`,
      )
    }
    return this.#makeRows({ recipeOf: (row) => resolve(row, FIRST_ATTEMPT), make }, rows)
  }

  /** Makes the items of a suite, without substitutes. */
  ofIds(ids: string[], rows: RowRange): AsyncGenerator<string> {
    const recipeOf = (row: number) => this.#deps.items.resolveItemId(ids[row] ?? '')
    const make: MakeRow = async (row, first, signal) => this.#makePatiently(await recipeOf(row), first, signal)
    return this.#makeRows({ recipeOf, make }, rows)
  }

  /** Makes items window by window: from the second window on, the next one is made while the reader takes this one. */
  async *#makeRows(source: RowSource, { entityTag, from, to, format, signal }: RowRange): AsyncGenerator<string> {
    const start = (at: number, size: number) => {
      const window = this.#windows.join(`${entityTag} ${at}`, signal, async (whileRead) => {
        const items = await this.#makeWindow(source, at, Math.min(at + size, to), whileRead)
        return items.map(format).join('')
      })
      window.catch(() => {}) // awaited later, unless the reader has disconnected
      return window
    }
    yield await start(from, FIRST_WINDOW_ROWS)
    let at = from + FIRST_WINDOW_ROWS
    let current = start(at, WINDOW_ROWS)
    for (; at < to && !signal.aborted; at += WINDOW_ROWS) {
      const next = start(at + WINDOW_ROWS, WINDOW_ROWS)
      yield await current
      current = next
    }
  }

  async #makeWindow({ recipeOf, make }: RowSource, from: number, to: number, signal: AbortSignal): Promise<RowItem[]> {
    const rows = Array.from({ length: Math.max(0, to - from) }, (_, k) => from + k)
    const recipes = await Promise.all(rows.map(recipeOf))
    const started = await retryUntil(performance.now() + RETRY_MS, () =>
      this.#deps.items.getOrStartEach(recipes, 'dataset'),
    )
    for (const item of started) item.catch(() => {}) // `make` handles it
    return Promise.all(
      started.map(async (first, k) => {
        const row = from + k
        const { entry: _entry, ...item } = await make(row, first, signal)
        return { row, ...item }
      }),
    )
  }

  #makePatiently(
    recipe: Recipe,
    started: Promise<ItemWithEntry> | undefined,
    signal: AbortSignal,
  ): Promise<ItemWithEntry> {
    let first = started
    return retryUntil(performance.now() + RETRY_MS, () => {
      signal.throwIfAborted()
      const item = first ?? this.#deps.items.getOrCreateOne(recipe, 'dataset')
      first = undefined
      return item
    })
  }

  #findFlaw({ question, recipe, entry }: ItemWithEntry, { settings }: TrainingPlan): string | undefined {
    if (this.#deps.evalQuestions.hasHash(shortenQuestionHash(hashQuestion(question))))
      return 'the question stands in a frozen suite'
    const isUnanswerable = settings.scoring === 'hardened' && !isAnswerable(recipe.task, entry)
    return isUnanswerable ? 'hardened scoring pays no answer to it' : undefined
  }
}

export interface RowRange {
  /** Of the data set. It changes with `from`. */
  entityTag: string
  from: number
  /** End of the range (exclusive). */
  to: number
  format: (row: RowItem) => string
  /** Aborts when the reader disconnects. */
  signal: AbortSignal
}

/** Offset of substitute positions, past those of any data set, for a row whose own position has no item. */
const SUBSTITUTE_STRIDE = 2 ** 24
const POSITIONS_PER_ROW = 8

interface RowAttempt {
  /** Place to try: the row's own position, then its substitutes. */
  place: number
  retry: number
}

export interface TrainingPlanDeps {
  engine: Pick<Engine, 'versionOf'>
  tasks: TaskCatalog
  frontiers: TaskFrontiers
}

/**
 * Determines the item in each row of a data set of training items: the one that a run with the same tasks, seed and
 * difficulty has at that position of its sequence. A data set and a run therefore agree, and every node returns the
 * same rows.
 */
export class TrainingPlan {
  readonly settings: RunSettings
  readonly #plans: TaskPlan[]
  /** Difficulty at which a curriculum starts, keyed by task. */
  readonly #startingLevels: ReadonlyMap<string, number>
  /** Of the code of each task. */
  readonly #versions: readonly string[]

  /** Throws `unknown_task`. `explicitSettings` are those of the run that the query names. */
  constructor(query: DatasetQuery, explicitSettings: SettingsChange, { engine, tasks, frontiers }: TrainingPlanDeps) {
    for (const choice of query.tasks === undefined || query.tasks === 'all' ? [] : query.tasks)
      tasks.assertKnown(choice, { path: 'tasks', message: 'must be names of tasks and category:NAME' })
    const { seed, difficulty } = query
    const settings = resolveSettings({
      ...explicitSettings,
      ...(query.tasks && { tasks: query.tasks }),
      ...(seed !== undefined && { seed }),
      ...(difficulty && { complexity_mode: 'random' }),
    })
    this.settings = settings
    this.#plans = buildTaskPlans(settings, tasks.list())
      .filter(({ weight }) => weight > 0)
      .map((plan) => (difficulty ? { ...plan, config: undefined, low: difficulty[0], high: difficulty[1] } : plan))
    this.#versions = this.#plans.map(({ task }) => engine.versionOf(task))
    const isFrontier = settings.complexity_mode === 'frontier'
    const levels = this.#plans.map((plan): [string, number | undefined] => [
      plan.task,
      isFrontier ? frontiers.get({ settings, explicitSettings }, plan)?.startingLevel : undefined,
    ])
    this.#startingLevels = new Map(levels.flatMap(([task, level]) => (level === undefined ? [] : [[task, level]])))
  }

  /** Everything that determines the items. */
  get identity(): unknown {
    const { seed, complexity_mode, difficulty, scoring } = this.settings
    return [seed, complexity_mode, difficulty, scoring, this.#plans, this.#versions, [...this.#startingLevels]]
  }

  get isEmpty(): boolean {
    return this.#plans.length === 0
  }

  recipeAt(row: number, { place, retry }: RowAttempt): RecipeInput {
    const position = row + place * SUBSTITUTE_STRIDE
    const point = sequencePointAt(this.settings.seed, this.#plans, position)
    const { task, config } = point.plan
    const difficulty = chooseDifficulty(point, this.settings, this.#startingLevels.get(task))
    const seed = seedAt(this.settings.seed, position, retry)
    return { task, seed, index: 0, ...(config && { config }), difficulty }
  }

  nextAttempt({ place, retry }: RowAttempt): RowAttempt | undefined {
    if (retry + 1 < SEEDS_PER_POSITION) return { place, retry: retry + 1 }
    return place + 1 < POSITIONS_PER_ROW ? { place: place + 1, retry: 0 } : undefined
  }
}

const FIRST_ATTEMPT: RowAttempt = { place: 0, retry: 0 }

interface Running<T> {
  result: Promise<T>
  callers: number
  abort: AbortController
}

/** Work that equal calls share while it is done: the first starts it, and it is aborted once all of them have left. */
class SharedWork<T> {
  readonly #running = new Map<string, Running<T>>()

  /** `signal` aborts when the caller leaves. `start` gets one that aborts when all callers have left. */
  join(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const running = this.#running.get(key) ?? this.#start(key, start)
    running.callers++
    const leave = () => {
      running.callers--
      if (running.callers > 0) return
      running.abort.abort(signal.reason)
      this.#remove(key, running) // a later caller starts again
    }
    if (signal.aborted) leave()
    else {
      signal.addEventListener('abort', leave, { once: true })
      void running.result.catch(() => {}).then(() => signal.removeEventListener('abort', leave))
    }
    return running.result
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<T>): Running<T> {
    const abort = new AbortController()
    const running = { result: start(abort.signal), callers: 0, abort }
    this.#running.set(key, running)
    void running.result.catch(() => {}).then(() => this.#remove(key, running)) // callers handle the error
    return running
  }

  #remove(key: string, running: Running<T>): void {
    if (this.#running.get(key) === running) this.#running.delete(key)
  }
}
