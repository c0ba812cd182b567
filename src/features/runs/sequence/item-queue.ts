/** The items of a run for its callers: the next ones, or those of a training step. What is not made ahead is made at once. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { RankSlice } from '../../../contract/batch.ts'
import { ServiceError } from '../../../contract/errors.ts'
import type { Item } from '../../../contract/item.ts'
import { encodeItemId } from '../../../contract/item-id.ts'
import type { Recipe } from '../../../contract/recipe.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Producer } from '../../../platform/queue/producer.ts'
import type { Items } from '../../items/items.ts'
import type { FrontierCurriculum } from '../frontier/frontier-curriculum.ts'
import { prefetchItemsJob } from '../jobs/definitions.ts'
import type { RunRepository } from '../repository.ts'
import { type ResolvedRun, resolveRun } from '../resolved-run.ts'
import { runRestoredError } from '../run-errors.ts'
import type { ItemPrefetcher, PreparedItemBody } from './item-prefetcher.ts'
import type { PositionRepository, PositionScope, SequenceItem, StepItem, TakenItems } from './position-repository.ts'
import { seedAt } from './sequence.ts'

/** A call waits at least this long for items that are not made yet. */
const ITEMS_WAIT_MS = 1500
const POLL_INTERVAL_MS = 25

/** Positions that a run keeps open and made: those of some calls, within bounds. */
const MIN_PREFETCH_TARGET = 64
const MAX_PREFETCH_TARGET = 1024
const PREFETCH_CALLS = 4
/** Below this share of the target a job makes more. */
const PREFETCH_REFILL_BELOW = 0.75

interface ItemQueueDeps {
  engine: Engine
  runs: RunRepository
  items: Items
  positions: PositionRepository
  prefetcher: ItemPrefetcher
  frontier: Pick<FrontierCurriculum, 'fold'>
  producer: Producer
}

export interface DequeuedItems {
  items: Item[]
  /** Who must do something before there are more. */
  waiting_for?: 'trainer'
}

interface StepItemsParams {
  rank?: RankSlice['rank'] | undefined
  ranks?: RankSlice['ranks'] | undefined
  step: number
  count: number
}

/** What an attempt to get items came to: a result, or positions whose items are missing. */
type Attempt<T> =
  | { kind: 'done'; result: T }
  | { kind: 'missing'; run: ResolvedRun; scope: PositionScope; count: number }

export class ItemQueue {
  readonly #deps: ItemQueueDeps

  constructor(deps: ItemQueueDeps) {
    this.#deps = deps
  }

  /**
   * Up to `count` items, each handed out once unless its lease expires. A second call with the same token is handed what the
   * first one was. Throws `items_not_ready`.
   */
  async next(run: ResolvedRun, count: number, token?: string): Promise<DequeuedItems> {
    await this.#deps.frontier.fold(run) // its items follow all groups that were scored before the call
    const items: Item[] = []
    const prefetchTarget = growPrefetchTarget(run, count)
    const dequeued = await this.#makeUntilDone<DequeuedItems>(ITEMS_WAIT_MS, async (isFinal) => {
      const taken = await this.#take(run, count - items.length, {
        prefetchTarget,
        isFinal,
        token,
        received: items.length,
      })
      const formatted = await this.#formatItems(run, taken.items)
      items.push(
        ...formatted.map((item, k) => ({
          ...item,
          ...(taken.items[k]?.again && { again: true as const }),
        })),
      )
      if (taken.preparedCount < PREFETCH_REFILL_BELOW * prefetchTarget) void this.schedulePrefetch(run)
      if (items.length === count) return { kind: 'done', result: { items } }
      if (taken.capacity === 0) return { kind: 'done', result: { items, waiting_for: 'trainer' } }
      if (isFinal && items.length > 0) return { kind: 'done', result: { items } }
      return { kind: 'missing', run, scope: { kind: 'open', prefetchTarget }, count: taken.capacity }
    })
    return dequeued ?? this.#throwNotReady(run, 'No item was ready in time; those in the making go to the next call')
  }

  /** The caller that took items under the token has its answer. */
  forgetTaken(run: ResolvedRun, token: string): Promise<void> {
    return this.#deps.positions.forgetTaken(run, token)
  }

  /** All items of a step, or those of one rank: the same for every caller. Throws `items_not_ready`. */
  async requireStepItems(
    initialRun: ResolvedRun,
    { step, count, rank, ranks = 1 }: StepItemsParams,
    waitMs: number,
  ): Promise<Item[]> {
    await this.#deps.frontier.fold(initialRun)
    const items = await this.#makeUntilDone<Item[]>(Math.max(ITEMS_WAIT_MS, waitMs), async () => {
      const { run, assigned } = await this.#assignStep(initialRun, step, count)
      const made = assigned.filter((item) => item.kind !== 'unmade')
      if (made.length < assigned.length)
        return { kind: 'missing', run, scope: { kind: 'step', step }, count: assigned.length - made.length }
      const slice = rank === undefined ? made : made.filter((_, k) => k % ranks === rank)
      return { kind: 'done', result: await this.#formatItems(run, slice) }
    })
    return (
      items ??
      this.#throwNotReady(initialRun, `Some items of step ${step} are still being made; retry to get the same ones`)
    )
  }

  /** Has a worker make items ahead; if no job can be added they are made on demand. */
  async schedulePrefetch({ name, epoch }: Pick<ResolvedRun, 'name' | 'epoch'>): Promise<void> {
    const job = { id: `${name}/${epoch}`, data: { run: name, epoch } }
    await this.#deps.producer.add(prefetchItemsJob, [job]).catch(() => {})
  }

  /** Repeats the attempt until it is done or time is up; in between makes what is missing, or waits for those who do. */
  async #makeUntilDone<T>(
    timeoutMs: number,
    attempt: (isFinal: boolean) => Promise<Attempt<T>>,
  ): Promise<T | undefined> {
    const deadline = performance.now() + timeoutMs
    const inProgress = new Set<Promise<boolean>>()
    for (;;) {
      const isFinal = performance.now() >= deadline
      const outcome = await attempt(isFinal)
      if (outcome.kind === 'done') return outcome.result
      if (isFinal) return undefined
      for (const item of await this.#deps.prefetcher.start(outcome.run, outcome.scope, outcome.count)) {
        inProgress.add(item)
        void item.then(() => inProgress.delete(item))
      }
      await Promise.race([...(inProgress.size > 0 ? [Promise.all(inProgress)] : []), sleep(POLL_INTERVAL_MS)])
    }
  }

  async #take(
    run: ResolvedRun,
    count: number,
    options: { prefetchTarget: number; isFinal: boolean; token: string | undefined; received: number },
  ): Promise<TakenItems> {
    const { max_groups_ahead, item_lease_s } = run.settings
    const taken = await this.#deps.positions.take(run, count, {
      ...options,
      maxAhead: max_groups_ahead,
      leaseMs: item_lease_s * 1000,
    })
    if (!taken) throw runRestoredError(run.name)
    return taken
  }

  /** Items that were started under settings that have changed are made again under the new ones. */
  async #assignStep(
    initialRun: ResolvedRun,
    step: number,
    count: number,
  ): Promise<{ run: ResolvedRun; assigned: StepItem[] }> {
    for (let run = initialRun; ; ) {
      const prefetchTarget = run.counters.prefetch_target ?? 0
      const assigned = await this.#deps.positions.assignStep(run, step, { count, prefetchTarget })
      if (assigned) return { run, assigned }
      const stored = await this.#deps.runs.get(run.name)
      if (stored?.epoch !== run.epoch) throw runRestoredError(run.name)
      run = resolveRun(stored)
    }
  }

  /** Items whose text is no longer stored, or is of another engine version, are made again from their recipes. */
  async #formatItems(run: ResolvedRun, list: SequenceItem[]): Promise<Item[]> {
    const { items, prefetcher } = this.#deps
    const stored = new Map(list.flatMap((item) => this.#readStored(item)).map((item) => [item.position, item]))
    const missing = list.filter(({ position }) => !stored.has(position))
    const recipes = await Promise.all(missing.map((item) => prefetcher.rebuildRecipe(run, sourceOf(run, item))))
    const remade = new Map((await items.getOrCreate(recipes)).map((item, k) => [missing[k]?.position, item]))
    return list.map(({ position }) => {
      const made = stored.get(position) ?? remade.get(position)
      if (!made) throw new ServiceError('internal', `position ${position} has no item`)
      return items.formatItem(made, run.settings)
    })
  }

  /** None if the item was stored before the engine was upgraded: the server would refuse its ID. */
  #readStored(item: SequenceItem) {
    if (item.kind === 'expired') return []
    const made = parseBody(item)
    return made.recipe.engine === this.#deps.engine.version ? [{ position: item.position, ...made }] : []
  }

  /** Says what was skipped last: where no position gives an item, waiting does not help. */
  async #throwNotReady(run: ResolvedRun, message: string): Promise<never> {
    this.#deps.engine.assertReady()
    const [last] = await this.#deps.positions.listSkipped(run)
    const skipped = last && `. The last position that was skipped: ${last.task} at ${last.time}: ${last.detail}`
    throw new ServiceError('items_not_ready', `${message}${skipped ?? ''}`)
  }
}

/** Grows with the largest call, so that the next one finds its items made. */
function growPrefetchTarget({ counters }: ResolvedRun, count: number): number {
  const wanted = Math.min(MAX_PREFETCH_TARGET, Math.max(MIN_PREFETCH_TARGET, count * PREFETCH_CALLS))
  return Math.max(wanted, counters.prefetch_target ?? 0)
}

/** The label is of now: the stored recipe has the difficulty that the item was made at. */
function parseBody({ body, difficulty }: Extract<SequenceItem, { kind: 'stored' }>) {
  const { recipe, question } = JSON.parse(body) as PreparedItemBody // written by ItemPrefetcher
  const labeled = { ...recipe, difficulty }
  return { id: encodeItemId(labeled), recipe: labeled, question }
}

/** What an item is made again from. */
function sourceOf({ settings }: ResolvedRun, item: SequenceItem): Pick<Recipe, 'task' | 'seed' | 'difficulty'> {
  if (item.kind === 'stored') return parseBody(item).recipe
  const { task, difficulty, position, retry } = item
  return { task, difficulty, seed: seedAt(settings.seed, position, retry) }
}
