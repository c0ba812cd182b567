/** The next items of a run. They are prepared ahead by a job; what is missing is made at once, within a bound of time. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../contract/errors.ts'
import type { Item } from '../../contract/item.ts'
import { encodeItemId } from '../../contract/item-id.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Producer } from '../../platform/queue/producer.ts'
import type { Items } from '../items/items.ts'
import type { ItemPrefetcher, PreparedItemBody } from './item-prefetcher.ts'
import { prefetchItemsJob } from './jobs/definitions.ts'
import type { PositionRepository, TakeItemsResult, TakenItem } from './position-repository.ts'
import type { RunRepository } from './repository.ts'
import type { ResolvedRun } from './resolved-run.ts'
import { runRestoredError } from './run-errors.ts'

const NEXT_ITEMS_WAIT_MS = 1500
const POLL_INTERVAL_MS = 25

/** Positions that a run keeps open and prepared: some calls' worth, within bounds. */
const MIN_PREFETCH_DEPTH = 64
const MAX_PREFETCH_DEPTH = 1024
const PREFETCH_CALLS = 4

interface ItemQueueDeps {
  engine: Engine
  runs: RunRepository
  items: Items
  positions: PositionRepository
  prefetcher: ItemPrefetcher
  producer: Producer
}

export interface DequeuedItems {
  items: Item[]
  /** Who must do something before there are more. */
  waiting_for?: 'trainer'
}

export class ItemQueue {
  readonly #deps: ItemQueueDeps

  constructor(parts: ItemQueueDeps) {
    this.#deps = parts
  }

  /** Up to `count` items, none twice but those whose lease has run out. Throws `items_not_ready`. */
  async next(run: ResolvedRun, count: number): Promise<DequeuedItems> {
    const deadline = performance.now() + NEXT_ITEMS_WAIT_MS
    const items: Item[] = []
    const ahead = await this.#growPrefetchDepth(run, count)
    for (let making: Promise<boolean>[] = []; ; ) {
      const last = performance.now() >= deadline
      const taking = await this.#take(run, count - items.length, ahead, last)
      items.push(...(await Promise.all(taking.items.map((taken) => this.#formatItem(run, taken)))))
      if (taking.preparedCount < 0.75 * ahead) void this.schedulePrefetch(run)
      if (items.length === count) return { items }
      if (taking.remainingCapacity === 0) return { items, waiting_for: 'trainer' }
      if (last) break
      making = [...making, ...(await this.#deps.prefetcher.start(run, taking.remainingCapacity, ahead))]
      await Promise.race([Promise.all(making), sleep(POLL_INTERVAL_MS)])
      if (making.length === 0) await sleep(POLL_INTERVAL_MS) // others are making them
    }
    if (items.length > 0) return { items }
    this.#deps.engine.assertReady()
    throw new ServiceError('items_not_ready', 'No item was ready in time; those in the making go to the next call')
  }

  /** Has a worker make items ahead; without one they are made when they are asked for. */
  async schedulePrefetch({ name, epoch }: Pick<ResolvedRun, 'name' | 'epoch'>): Promise<void> {
    const job = { id: `${name}/${epoch}`, data: { run: name, epoch } }
    await this.#deps.producer.add(prefetchItemsJob, [job]).catch(() => {})
  }

  async #take(run: ResolvedRun, count: number, ahead: number, last: boolean): Promise<TakeItemsResult> {
    const { settings } = run
    const taking = await this.#deps.positions.takeItems(run, count, {
      last,
      ahead,
      mostAhead: settings.max_groups_ahead,
      leaseMs: settings.item_lease_s * 1000,
    })
    if (!taking) throw runRestoredError(run.name)
    return taking
  }

  async #formatItem(run: ResolvedRun, taken: TakenItem): Promise<Item> {
    const { items, prefetcher: preparation } = this.#deps
    if (taken.kind === 'again') {
      const item = await items.getOrCreateOne(
        await preparation.rebuildRecipe(run, taken.position, taken.task, taken.label),
      )
      return { ...items.formatItem(item, run.settings), again: true }
    }
    const { recipe, question } = JSON.parse(taken.body) as PreparedItemBody // written by Preparation
    const labelled = { ...recipe, difficulty: taken.label }
    return items.formatItem({ id: encodeItemId(labelled), recipe: labelled, question }, run.settings)
  }

  /** Grows with the largest call, so that the next one finds its items ready. */
  async #growPrefetchDepth(run: ResolvedRun, count: number): Promise<number> {
    const wanted = Math.min(MAX_PREFETCH_DEPTH, Math.max(MIN_PREFETCH_DEPTH, count * PREFETCH_CALLS))
    if (wanted > (run.counters.ahead ?? 0)) await this.#deps.runs.setPrefetchTarget(run, wanted)
    return Math.max(wanted, run.counters.ahead ?? 0)
  }
}
