/** The next items of a run. They are prepared ahead by a job; what is missing is made at once, within a bound of time. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../engine/engine.ts'
import { Fault } from '../faults.ts'
import type { Items } from '../items/items.ts'
import type { Producer } from '../queue/producer.ts'
import type { Positions, Taken, Taking } from '../store/positions.ts'
import type { Runs } from '../store/runs.ts'
import type { Item } from '../words/item.ts'
import { encodeItemId } from '../words/item-id.ts'
import type { OpenRun } from './open-run.ts'
import type { Body, Preparation } from './preparation.ts'
import { restored } from './refusals.ts'

const READY_WITHIN_MS = 1500
const LOOK_EVERY_MS = 25

/** Positions that a run keeps open and prepared: some calls' worth, within bounds. */
const AHEAD_MIN = 64
const AHEAD_MAX = 1024
const CALLS_AHEAD = 4

interface Parts {
  engine: Engine
  runs: Runs
  items: Items
  positions: Positions
  preparation: Preparation
  producer: Producer
}

export interface HandedOut {
  items: Item[]
  /** Who must do something before there are more. */
  waiting_for?: 'trainer'
}

export class Handout {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Up to `count` items, none twice but those whose lease has run out. Throws `items_not_ready`. */
  async next(run: OpenRun, count: number): Promise<HandedOut> {
    const deadline = performance.now() + READY_WITHIN_MS
    const items: Item[] = []
    const ahead = await this.#ahead(run, count)
    for (let making: Promise<boolean>[] = []; ; ) {
      const last = performance.now() >= deadline
      const taking = await this.#take(run, count - items.length, ahead, last)
      items.push(...(await Promise.all(taking.taken.map((taken) => this.#present(run, taken)))))
      if (taking.prepared < 0.75 * ahead) void this.prepare(run)
      if (items.length === count) return { items }
      if (taking.room === 0) return { items, waiting_for: 'trainer' }
      if (last) break
      making = [...making, ...(await this.#parts.preparation.begin(run, taking.room, ahead))]
      await Promise.race([Promise.all(making), sleep(LOOK_EVERY_MS)])
      if (making.length === 0) await sleep(LOOK_EVERY_MS) // others are making them
    }
    if (items.length > 0) return { items }
    this.#parts.engine.assertReady()
    throw new Fault('items_not_ready', 'No item was ready in time; those in the making go to the next call')
  }

  /** Has a worker make items ahead; without one they are made when they are asked for. */
  async prepare({ name, epoch }: Pick<OpenRun, 'name' | 'epoch'>): Promise<void> {
    const job = { id: `${name}/${epoch}`, data: { run: name, epoch } }
    await this.#parts.producer.add('prepare-items', [job]).catch(() => {})
  }

  async #take(run: OpenRun, count: number, ahead: number, last: boolean): Promise<Taking> {
    const { settings } = run
    const taking = await this.#parts.positions.take(run, count, {
      last,
      ahead,
      mostAhead: settings.max_groups_ahead,
      leaseMs: settings.item_lease_s * 1000,
    })
    if (!taking) throw restored(run.name)
    return taking
  }

  async #present(run: OpenRun, taken: Taken): Promise<Item> {
    const { items, preparation } = this.#parts
    if (taken.kind === 'again') {
      const item = await items.getOne(await preparation.recipeAgain(run, taken.position, taken.task, taken.label))
      return { ...items.present(item, run.settings), again: true }
    }
    const { recipe, question } = JSON.parse(taken.body) as Body // written by Preparation
    const labelled = { ...recipe, difficulty: taken.label }
    return items.present({ id: encodeItemId(labelled), recipe: labelled, question }, run.settings)
  }

  /** Grows with the largest call, so that the next one finds its items ready. */
  async #ahead(run: OpenRun, count: number): Promise<number> {
    const wanted = Math.min(AHEAD_MAX, Math.max(AHEAD_MIN, count * CALLS_AHEAD))
    if (wanted > (run.counters.ahead ?? 0)) await this.#parts.runs.setAhead(run, wanted)
    return Math.max(wanted, run.counters.ahead ?? 0)
  }
}
