/** The items of a training step: chosen by the first call for it, the same for whoever asks again, whole or one rank's. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { RankSlice } from '../../contract/batch.ts'
import { ServiceError } from '../../contract/errors.ts'
import type { Item } from '../../contract/item.ts'
import { encodeItemId } from '../../contract/item-id.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Items, ItemWithEntry } from '../items/items.ts'
import type { ItemPrefetcher, PreparedItemBody } from './item-prefetcher.ts'
import type { ResolvedRun } from './resolved-run.ts'
import { runRestoredError } from './run-errors.ts'
import type { Runs } from './runs.ts'
import type { StepItem, StepItemRepository } from './step-item-repository.ts'

const MIN_STEP_WAIT_MS = 1500
const POLL_INTERVAL_MS = 25

interface StepItemsParams {
  rank?: RankSlice['rank'] | undefined
  ranks?: RankSlice['ranks'] | undefined
  step: number
  count: number
}

interface StepItemsDeps {
  engine: Engine
  runs: Runs
  steps: StepItemRepository
  items: Items
  prefetcher: ItemPrefetcher
}

export class StepItems {
  readonly #deps: StepItemsDeps

  constructor(parts: StepItemsDeps) {
    this.#deps = parts
  }

  /** All items of the step, or the share. Throws `items_not_ready` while one of the step's items is in the making. */
  async requireItems(
    before: ResolvedRun,
    { step, count, rank, ranks = 1 }: StepItemsParams,
    waitMs: number,
  ): Promise<Item[]> {
    const share = rank === undefined ? undefined : { rank, ranks }
    const deadline = performance.now() + Math.max(MIN_STEP_WAIT_MS, waitMs)
    for (let run = before, making: Promise<boolean>[] = []; ; ) {
      const assigned = await this.#deps.steps.assignItems(run, step, count, run.counters.ahead ?? 0)
      if (!assigned) {
        if (performance.now() >= deadline) break
        run = await this.#refreshRun(run)
        continue
      }
      const made = assigned.filter(isMade)
      if (made.length === assigned.length)
        return this.#formatItems(
          run,
          made.filter((_, k) => isInSlice(k, share)),
        )
      if (performance.now() >= deadline) break
      making = [...making, ...(await this.#deps.prefetcher.startStep(run, step))]
      await Promise.race([...(making.length > 0 ? [Promise.all(making)] : []), sleep(POLL_INTERVAL_MS)])
    }
    this.#deps.engine.assertReady()
    throw new ServiceError(
      'items_not_ready',
      `Some items of step ${step} are in the making; ask again for the same ones`,
    )
  }

  /** What was begun under other settings is made anew under those of now. Throws if it is another epoch. */
  async #refreshRun({ name, epoch }: ResolvedRun): Promise<ResolvedRun> {
    const run = await this.#deps.runs.get(name)
    if (run?.epoch !== epoch) throw runRestoredError(name)
    return run
  }

  async #formatItems(run: ResolvedRun, assigned: MadeStepItem[]): Promise<Item[]> {
    const { items } = this.#deps
    const forgotten = assigned.filter(({ item: made }) => made.body === undefined)
    const recipes = forgotten.map(({ position, item: made }) =>
      this.#deps.prefetcher.rebuildRecipe(run, position, made.task, made.label),
    )
    const remade = await items.getOrCreate(await Promise.all(recipes))
    const again = new Map(remade.map((item, k) => [forgotten[k], item]))
    return assigned.map((item) => items.formatItem(again.get(item) ?? parseStepItem(item), run.settings))
  }
}

type MadeStepItem = StepItem & { item: NonNullable<StepItem['item']> }

function isMade(item: StepItem): item is MadeStepItem {
  return item.item !== undefined
}

function isInSlice(place: number, share: RankSlice | undefined): boolean {
  return share === undefined || place % share.ranks === share.rank
}

function parseStepItem({ item: made }: MadeStepItem): Omit<ItemWithEntry, 'entry'> {
  const { recipe, question } = JSON.parse(made.body ?? '') as PreparedItemBody // written by Preparation
  const labelled = { ...recipe, difficulty: made.label }
  return { id: encodeItemId(labelled), recipe: labelled, question }
}
