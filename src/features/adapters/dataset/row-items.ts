/** Makes the items of rows in order, ahead of the reader. A row's item depends only on the data set. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import { isAnswerable } from '@reasoning-gym-server/scorers/hardened/hardened-scorers'
import type { EvalQuestions } from '../../items/eval-questions.ts'
import { type Items, type ItemWithEntry, isMakeFailure } from '../../items/items.ts'
import { hashQuestion, shortenQuestionHash } from '../../items/question-hash.ts'
import { retryUntil } from '../trainer-calls.ts'
import { FIRST_ATTEMPT, type RowAttempt, type TrainingPlan } from './training-plan.ts'

/**
 * Window sizes. The first window is small because data loaders read the first rows and stop; the others fill the Python
 * workers.
 */
const FIRST_WINDOW_ROWS = 16
const WINDOW_ROWS = 64
/** Time for which a temporary failure of the server is retried before the download is aborted. */
const RETRY_MS = 60_000

export interface RowItem extends Pick<ItemWithEntry, 'id' | 'recipe' | 'question'> {
  row: number
}

interface RowItemsDeps {
  items: Items
  evalQuestions: EvalQuestions
}

/** Makes the item of a row; `first` is one that is already being made. */
type MakeRow = (row: number, first: Promise<ItemWithEntry>, signal: AbortSignal) => Promise<ItemWithEntry>

interface RowSource {
  /** Returns the recipe to begin with. */
  recipeOf: (row: number) => Promise<Recipe>
  make: MakeRow
}

export class RowItems {
  readonly #deps: RowItemsDeps

  constructor(deps: RowItemsDeps) {
    this.#deps = deps
  }

  /**
   * Makes training items. A seed that has no item to train on, or whose question is in a frozen suite, is replaced by
   * another.
   */
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

  /** Makes the items of a suite, without substitutes. */
  ofIds(ids: string[], rows: RowRange): AsyncGenerator<RowItem[]> {
    const recipeOf = (row: number) => this.#deps.items.resolveItemId(ids[row] ?? '')
    const make: MakeRow = async (row, first, signal) => this.#makePatiently(await recipeOf(row), first, signal)
    return this.#makeRows({ recipeOf, make }, rows)
  }

  /** Makes items window by window: from the second window on, the next one is made while the reader takes this one. */
  async *#makeRows(source: RowSource, { from, to, signal }: RowRange): AsyncGenerator<RowItem[]> {
    const start = (at: number, size: number) => {
      const window = this.#makeWindow(source, { from: at, to: Math.min(at + size, to), signal })
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

  /** Makes an item and retries temporary failures. */
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

  /** Returns why the item must not be used for training. */
  #findFlaw({ question, recipe, entry }: ItemWithEntry, { settings }: TrainingPlan): string | undefined {
    if (this.#deps.evalQuestions.hasHash(shortenQuestionHash(hashQuestion(question))))
      return 'the question stands in a frozen suite'
    const isUnanswerable = settings.scoring === 'hardened' && !isAnswerable(recipe.task, entry)
    return isUnanswerable ? 'hardened scoring pays no answer to it' : undefined
  }
}

export interface RowRange {
  from: number
  /** End of the range (exclusive). */
  to: number
  /** Aborts when the reader disconnects. */
  signal: AbortSignal
}
