/** Makes the items of rows in order, some ahead of the reader. What a row gets depends on nothing but the data set. */
import { ServiceError } from '../../../contract/errors.ts'
import type { Recipe } from '../../../contract/recipe.ts'
import { isAnswerable } from '../../../scorers/hardened/answerable.ts'
import { type EvalQuestions, hashQuestion } from '../../items/eval-questions.ts'
import { type Items, type ItemWithEntry, isMakeFailure } from '../../items/items.ts'
import { retryUntil } from '../sample-scoring.ts'
import { FIRST_ATTEMPT, type RowAttempt, type TrainingPlan } from './training-plan.ts'

/** The first window is small, since data loaders look at the first rows and break off; the others fill the Python workers. */
const FIRST_WINDOW_ROWS = 16
const WINDOW_ROWS = 64
/** How long to retry a temporary failure of the server before the download is aborted. */
const RETRY_MS = 60_000

export interface RowItem extends Pick<ItemWithEntry, 'id' | 'recipe' | 'question'> {
  row: number
}

interface RowItemsDeps {
  items: Items
  evalQuestions: EvalQuestions
}

/** Makes the item of a row; `first` is one that is in the making. */
type MakeRow = (row: number, first: Promise<ItemWithEntry>, signal: AbortSignal) => Promise<ItemWithEntry>

interface RowSource {
  /** The recipe to begin with. */
  recipeOf: (row: number) => Promise<Recipe>
  make: MakeRow
}

export class RowItems {
  readonly #deps: RowItemsDeps

  constructor(deps: RowItemsDeps) {
    this.#deps = deps
  }

  /** Training items: seeds that have no item to train on, or one whose question a frozen suite contains, give way to others. */
  ofPlan(plan: TrainingPlan, rows: RowRange): AsyncGenerator<RowItem[]> {
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
          if (!isMakeFailure(error)) throw error
          reason = error.message
        }
      }
      throw new ServiceError('make_failed', `Row ${row} has no item to train on: ${reason}`)
    }
    return this.#makeRows({ recipeOf: (row) => resolve(row, FIRST_ATTEMPT), make }, rows)
  }

  /** Items of a suite: each row is what it is. */
  ofIds(ids: string[], rows: RowRange): AsyncGenerator<RowItem[]> {
    const recipeOf = (row: number) => this.#deps.items.resolveItemId(ids[row] ?? '')
    const make: MakeRow = async (row, first, signal) => this.#makePatiently(await recipeOf(row), first, signal)
    return this.#makeRows({ recipeOf, make }, rows)
  }

  /** From the second window on, the next one is in the making while the reader takes this one. */
  async *#makeRows(source: RowSource, { from, to, signal }: RowRange): AsyncGenerator<RowItem[]> {
    const start = (at: number, size: number) => {
      const window = this.#makeWindow(source, { from: at, to: Math.min(at + size, to), signal })
      window.catch(() => {}) // it is awaited later, unless the reader has gone
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

  async #makeWindow({ recipeOf, make }: RowSource, { from, to, signal }: RowRange): Promise<RowItem[]> {
    const rows = Array.from({ length: Math.max(0, to - from) }, (_, k) => from + k)
    const recipes = await Promise.all(rows.map(recipeOf))
    const started = await retryUntil(performance.now() + RETRY_MS, () => this.#deps.items.getOrStartEach(recipes))
    for (const item of started) item.catch(() => {}) // `make` handles it
    return Promise.all(
      started.map(async (first, k) => {
        const row = from + k
        const { id, recipe, question } = await make(row, first, signal)
        return { row, id, recipe, question }
      }),
    )
  }

  /** Retries what may pass. */
  #makePatiently(
    recipe: Recipe,
    started: Promise<ItemWithEntry> | undefined,
    signal: AbortSignal,
  ): Promise<ItemWithEntry> {
    let first = started
    return retryUntil(performance.now() + RETRY_MS, () => {
      if (signal.aborted) throw new ServiceError('internal', 'The client has gone')
      const item = first ?? this.#deps.items.getOrCreateOne(recipe)
      first = undefined
      return item
    })
  }

  /** Why the item must not be used for training. */
  #findFlaw({ question, recipe, entry }: ItemWithEntry, { settings }: TrainingPlan): string | undefined {
    if (this.#deps.evalQuestions.hasHash(hashQuestion(question))) return 'the question stands in a frozen suite'
    const isUnanswerable = settings.scoring === 'hardened' && !isAnswerable(recipe.task, entry)
    return isUnanswerable ? 'hardened scoring pays no answer to it' : undefined
  }
}

export interface RowRange {
  from: number
  /** Exclusive. */
  to: number
  /** Aborts when the reader has gone. */
  signal: AbortSignal
}
