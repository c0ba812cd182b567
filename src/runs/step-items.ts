/** The items of a training step: chosen by the first call for it, the same for whoever asks again, whole or one rank's. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../engine/engine.ts'
import { Fault } from '../faults.ts'
import type { Items, MadeItem } from '../items/items.ts'
import type { StepItem, Steps } from '../store/steps.ts'
import type { Share } from '../words/batch.ts'
import type { Item } from '../words/item.ts'
import { encodeItemId } from '../words/item-id.ts'
import type { OpenRun } from './open-run.ts'
import type { Body, Preparation } from './preparation.ts'
import { restored } from './refusals.ts'
import type { RunBook } from './run-book.ts'

const READY_WITHIN_MS = 1500
const LOOK_EVERY_MS = 25

interface StepAsk {
  rank?: Share['rank'] | undefined
  ranks?: Share['ranks'] | undefined
  step: number
  count: number
}

interface Parts {
  engine: Engine
  runs: RunBook
  steps: Steps
  items: Items
  preparation: Preparation
}

export class StepItems {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** All items of the step, or the share. Throws `items_not_ready` while one of the step's items is in the making. */
  async of(before: OpenRun, { step, count, rank, ranks = 1 }: StepAsk, waitMs: number): Promise<Item[]> {
    const share = rank === undefined ? undefined : { rank, ranks }
    const deadline = performance.now() + Math.max(READY_WITHIN_MS, waitMs)
    for (let run = before, making: Promise<boolean>[] = []; ; ) {
      const assigned = await this.#parts.steps.assign(run, step, count, run.counters.ahead ?? 0)
      if (!assigned) {
        if (performance.now() >= deadline) break
        run = await this.#asItIsNow(run)
        continue
      }
      const made = assigned.filter(isMade)
      if (made.length === assigned.length)
        return this.#present(
          run,
          made.filter((_, k) => isIn(k, share)),
        )
      if (performance.now() >= deadline) break
      making = [...making, ...(await this.#parts.preparation.beginStep(run, step))]
      await Promise.race([...(making.length > 0 ? [Promise.all(making)] : []), sleep(LOOK_EVERY_MS)])
    }
    this.#parts.engine.assertReady()
    throw new Fault('items_not_ready', `Some items of step ${step} are in the making; ask again for the same ones`)
  }

  /** What was begun under other settings is made anew under those of now. Throws if it is another epoch. */
  async #asItIsNow({ name, epoch }: OpenRun): Promise<OpenRun> {
    const run = await this.#parts.runs.look(name)
    if (run?.epoch !== epoch) throw restored(name)
    return run
  }

  async #present(run: OpenRun, assigned: Made[]): Promise<Item[]> {
    const { items } = this.#parts
    const forgotten = assigned.filter(({ made }) => made.body === undefined)
    const recipes = forgotten.map(({ position, made }) =>
      this.#parts.preparation.recipeAgain(run, position, made.task, made.label),
    )
    const remade = await items.get(await Promise.all(recipes))
    const again = new Map(remade.map((item, k) => [forgotten[k], item]))
    return assigned.map((item) => items.present(again.get(item) ?? itemOf(item), run.settings))
  }
}

type Made = StepItem & { made: NonNullable<StepItem['made']> }

function isMade(item: StepItem): item is Made {
  return item.made !== undefined
}

function isIn(place: number, share: Share | undefined): boolean {
  return share === undefined || place % share.ranks === share.rank
}

function itemOf({ made }: Made): Omit<MadeItem, 'entry'> {
  const { recipe, question } = JSON.parse(made.body ?? '') as Body // written by Preparation
  const labelled = { ...recipe, difficulty: made.label }
  return { id: encodeItemId(labelled), recipe: labelled, question }
}
