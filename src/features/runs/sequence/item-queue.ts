/**
 * Serves the items of a run: the next ones, those of a training step, or those of positions. Items that were not made
 * ahead are made on demand.
 */
import type { RankSlice } from '@reasoning-gym-server/contract/batch'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Item } from '@reasoning-gym-server/contract/item'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Engine } from '../../../engine/engine.ts'
import type { Producer } from '../../../platform/queue/queues.ts'
import type { Notifications } from '../../../platform/redis/notifications.ts'
import type { Items } from '../../items/items.ts'
import type { FrontierCurriculum } from '../curriculum/frontier-curriculum.ts'
import { noItemError, positionTooFarError, runRestoredError, stepConflictError } from '../errors.ts'
import { schedulePrefetch } from '../jobs.ts'
import type { RunRepository } from '../repository.ts'
import { type ResolvedRun, resolveRun } from '../types.ts'
import {
  growPrefetchTarget,
  type ItemPrefetcher,
  PREFETCH_REFILL_BELOW,
  type PrefetchedItemBody,
  type RecipeSource,
} from './item-prefetcher.ts'
import type { PositionRepository, PositionScope, SequenceItem, TakenItems } from './positions.ts'
import type { RequestedPositions, RequestOutcome } from './requested.ts'
import { seedAt } from './sequence.ts'

/** Minimum time that a call waits for items that are not made yet, in milliseconds. */
const ITEMS_WAIT_MS = 1500

interface ItemQueueDeps {
  engine: Engine
  runs: RunRepository
  items: Items
  positions: PositionRepository
  requested: RequestedPositions
  prefetcher: ItemPrefetcher
  frontier: Pick<FrontierCurriculum, 'fold'>
  producer: Producer
  notifications: Notifications
}

export interface DequeuedItems {
  items: Item[]
  waiting_for?: 'trainer'
  /** Set if there are fewer items than were asked for. */
  incomplete?: true
  detail?: string
}

/** The rank whose items are requested, or all ranks if it is undefined. */
interface RankParams {
  rank?: RankSlice['rank'] | undefined
  ranks?: RankSlice['ranks'] | undefined
}

interface StepItemsParams extends RankParams {
  step: number
  /** Number of items of the whole step. If undefined, the step keeps its own number. */
  count?: number | undefined
}

interface PositionItemsParams extends RankParams {
  position: number | 'next'
  count: number
}

/** Items that stay the same for every request, and their name in errors. */
interface RequestedItems {
  by: 'step' | 'number'
  name: string
  request: (run: ResolvedRun, prefetchTarget: number) => Promise<RequestOutcome>
}
type RejectedRequest = Extract<RequestOutcome, { kind: 'other_count' | 'too_far' | 'no_item' }>

/** The result of an attempt to get items: the items, or positions whose items are missing, to wait for `patienceMs` at most. */
type Attempt<T> =
  | { kind: 'done'; result: T }
  | { kind: 'missing'; run: ResolvedRun; scope: PositionScope; count: number; positions: string[]; patienceMs?: number }

export class ItemQueue {
  readonly #deps: ItemQueueDeps

  constructor(deps: ItemQueueDeps) {
    this.#deps = deps
  }

  /**
   * Returns up to `count` items, each handed out once unless its lease expires. A repeated call with the same token
   * gets the same items. Throws `items_not_ready`.
   */
  async next(initialRun: ResolvedRun, count: number, token?: string): Promise<DequeuedItems> {
    await this.#deps.frontier.fold(initialRun) // includes all groups that were scored before the call
    let run = initialRun
    const items: Item[] = []
    const prefetchTarget = growPrefetchTarget(run, count)
    let isUnderWay = false
    const dequeued = await this.#makeUntilDone<DequeuedItems>(run, ITEMS_WAIT_MS, async (isFinal) => {
      const options = { prefetchTarget, isFinal, token, received: items.length }
      let taken = await this.#take(run, count - items.length, options)
      while (!taken) {
        run = await this.#reload(run, isUnderWay)
        taken = await this.#take(run, count - items.length, options)
      }
      isUnderWay = true
      const formatted = await this.#formatItems(run, taken.items)
      items.push(
        ...formatted.map((item, k) => ({
          ...item,
          ...(taken.items[k]?.again && { again: true as const }),
        })),
      )
      if (taken.prefetchedCount < PREFETCH_REFILL_BELOW * prefetchTarget) {
        setImmediate(() => void this.schedulePrefetch(run)) // after the response, which would share the processor with the worker
      }
      if (items.length === count) return { kind: 'done', result: { items } }
      if (taken.capacity === 0) {
        const detail = describeLack(
          items,
          count,
          'max_groups_ahead of the run is reached. Train on its groups, then request items',
        )
        return { kind: 'done', result: { items, waiting_for: 'trainer', incomplete: true, detail } }
      }
      if (isFinal && items.length > 0) {
        const detail = describeLack(items, count, 'the others are still being made. Request them later')
        return { kind: 'done', result: { items, incomplete: true, detail } }
      }
      const { capacity, missing: positions, patienceMs } = taken
      return { kind: 'missing', run, scope: { kind: 'open', prefetchTarget }, count: capacity, positions, patienceMs }
    })
    return (
      dequeued ?? this.#throwNotReady(run, 'No item was ready in time. Retry: those in the making go to the next call.')
    )
  }

  /** Forgets what was taken under the token, because the caller has received it. */
  forgetTaken(run: ResolvedRun, token: string): Promise<void> {
    return this.#deps.positions.forgetTaken(run, token)
  }

  /**
   * Returns all items of a step or those of one rank. They are the same for every caller as long as the run exists.
   * Throws `items_not_ready`, and `step_conflict` if the step has another number of items.
   */
  requireStepItems(run: ResolvedRun, { step, count, ...rank }: StepItemsParams, waitMs: number): Promise<Item[]> {
    return this.#requireRequested(run, rank, waitMs, {
      by: 'step',
      name: `step ${step}`,
      request: (now, prefetchTarget) => this.#deps.requested.requestStep(now, step, { count, prefetchTarget }),
    })
  }

  /**
   * Returns the items of positions `position` … `position + count - 1` of the run's sequence or those of one rank. They
   * are the same for every caller as long as the run exists. Throws `items_not_ready`, `make_failed` for a position
   * that has no item, and `invalid_request` for one too far ahead. Each call for `next` takes other positions.
   */
  requirePositions(
    run: ResolvedRun,
    { position, count, ...rank }: PositionItemsParams,
    waitMs: number,
  ): Promise<Item[]> {
    let first = position === 'next' ? undefined : position
    return this.#requireRequested(run, rank, waitMs, {
      by: 'number',
      name: count === 1 ? `position ${position}` : `${count} positions from ${position}`,
      request: async (now, prefetchTarget) => {
        const outcome = await this.#deps.requested.requestPositions(now, first, { count, prefetchTarget })
        if (outcome.kind === 'unmade') first ??= outcome.positions[0]
        return outcome
      },
    })
  }

  /** Adds a job that makes items ahead. If that fails, items are made on demand. */
  schedulePrefetch(run: Pick<ResolvedRun, 'name' | 'epoch'>): Promise<void> {
    return schedulePrefetch(this.#deps.producer, run)
  }

  /**
   * Repeats the attempt until it succeeds or the time is up. In between, makes what is missing or waits for the
   * processes that make it.
   */
  async #makeUntilDone<T>(
    initialRun: ResolvedRun,
    waitMs: number,
    attempt: (isFinal: boolean) => Promise<Attempt<T>>,
  ): Promise<T | undefined> {
    const { prefetcher, positions, notifications } = this.#deps
    const deadline = performance.now() + waitMs
    const listener = notifications.listen(positions.getTopic(initialRun))
    try {
      for (;;) {
        const isFinal = performance.now() >= deadline || notifications.closed
        const outcome = await attempt(isFinal)
        if (outcome.kind === 'done') return outcome.result
        if (isFinal) return undefined
        void (await prefetcher.start(outcome.run, outcome.scope, outcome.count)) // announced as those of other processes
        const timeoutMs = Math.min(deadline - performance.now(), outcome.patienceMs || Number.POSITIVE_INFINITY)
        const details = outcome.positions.length > 0 ? outcome.positions : undefined // undefined: any that is made
        await listener.wait({ timeoutMs, details })
      }
    } finally {
      listener.close()
    }
  }

  #take(
    run: ResolvedRun,
    count: number,
    options: { prefetchTarget: number; isFinal: boolean; token: string | undefined; received: number },
  ): Promise<TakenItems | undefined> {
    const { max_groups_ahead, item_lease_s } = run.settings
    const limits = { maxAhead: max_groups_ahead, leaseMs: item_lease_s * 1000 }
    return this.#deps.positions.take(run, count, { ...options, ...limits })
  }

  /** Repeats the request until all items are made. If the settings change, makes the items under the new ones. */
  async #requireRequested(
    initialRun: ResolvedRun,
    { rank, ranks = 1 }: RankParams,
    waitMs: number,
    { by, name, request }: RequestedItems,
  ): Promise<Item[]> {
    await this.#deps.frontier.fold(initialRun)
    let run = initialRun
    let isUnderWay = false
    const items = await this.#makeUntilDone<Item[]>(initialRun, Math.max(ITEMS_WAIT_MS, waitMs), async () => {
      let outcome = await request(run, run.counters.prefetch_target ?? 0)
      while (outcome.kind === 'run_changed') {
        run = await this.#reload(run, isUnderWay)
        outcome = await request(run, run.counters.prefetch_target ?? 0)
      }
      isUnderWay = true
      if (outcome.kind === 'unmade') {
        const { positions } = outcome
        const scope = { kind: 'requested' as const, positions, by }
        return { kind: 'missing', run, scope, count: positions.length, positions: positions.map(String) }
      }
      if (outcome.kind !== 'issued') throw await this.#explainRejection(run, name, outcome)
      const slice = rank === undefined ? outcome.items : outcome.items.filter((_, k) => k % ranks === rank)
      const list = slice.map((item) => ({ kind: 'expired' as const, ...item }))
      return { kind: 'done', result: await this.#formatItems(run, list) }
    })
    return items ?? this.#throwNotReady(run, `Some items of ${name} are still being made. Retry to get the same ones.`)
  }

  /**
   * Throws `run_changed` if the run was restored, or if it was rewound while the call was under way: the call belongs to the
   * steps that are undone. A first copy of the run may be older than the call.
   */
  async #reload(run: ResolvedRun, isUnderWay: boolean): Promise<ResolvedRun> {
    const stored = await this.#deps.runs.get(run.name)
    const isRewound = isUnderWay && stored?.counters.rewinds !== run.counters.rewinds
    if (stored?.epoch !== run.epoch || isRewound) throw runRestoredError(run.name)
    return resolveRun(stored)
  }

  async #explainRejection(run: ResolvedRun, name: string, outcome: RejectedRequest): Promise<ServiceError> {
    switch (outcome.kind) {
      case 'other_count':
        return stepConflictError(run.name, name, outcome.count)
      case 'too_far':
        return positionTooFarError(run.name, outcome.end)
      case 'no_item': {
        const [position = 0] = outcome.positions
        const skipped = (await this.#deps.positions.listSkipped(run)).find((one) => one.position === position)
        return noItemError(run.name, outcome.positions, skipped?.detail)
      }
    }
  }

  /**
   * Formats items. Those whose text is no longer stored, or belongs to another engine version, are made again from
   * their recipes.
   */
  async #formatItems(run: ResolvedRun, list: SequenceItem[]): Promise<Item[]> {
    const { items, prefetcher } = this.#deps
    const stored = new Map(list.flatMap((item) => this.#readStored(item)).map((item) => [item.position, item]))
    const missing = list.filter(({ position }) => !stored.has(position))
    const sources = missing.map((item) => sourceOf(run, item))
    const recipes = missing.length === 0 ? [] : await prefetcher.rebuildRecipes(sources)
    const remade = new Map((await items.getOrCreate(recipes, 'run')).map((item, k) => [missing[k]?.position, item]))
    return list.map(({ position, propensity }) => {
      const made = stored.get(position) ?? remade.get(position)
      if (!made) throw new ServiceError('internal', `The position ${position} has no item.`)
      return { ...items.formatItem(made, run.settings), ...(propensity && { propensity }) }
    })
  }

  /** Returns undefined if the item was stored before an engine upgrade, because the server would reject its ID. */
  #readStored(item: SequenceItem) {
    if (item.kind === 'expired') return []
    const made = parseBody(item)
    return made.recipe.engine === this.#deps.engine.versionOf(made.recipe.task)
      ? [{ position: item.position, ...made }]
      : []
  }

  /**
   * Adds the reason for the last skipped position to the error. If no position gives an item, waiting does not help.
   */
  async #throwNotReady(run: ResolvedRun, message: string): Promise<never> {
    this.#deps.engine.assertReady()
    const [last] = await this.#deps.positions.listSkipped(run)
    const skipped = last && ` Last skipped position: ${last.task} at ${last.time}: ${last.detail}.`
    throw new ServiceError('items_not_ready', `${message}${skipped ?? ''}`)
  }
}

/** Uses the current label, because the stored recipe has the difficulty at which the item was made. */
function parseBody({ body, difficulty }: Extract<SequenceItem, { kind: 'stored' }>) {
  const { recipe, ...shown } = JSON.parse(body) as PrefetchedItemBody // written by ItemPrefetcher
  const labeled = { ...recipe, difficulty }
  return { id: encodeItemId(labeled), recipe: labeled, ...shown }
}

function sourceOf({ settings }: ResolvedRun, item: SequenceItem): RecipeSource {
  if (item.kind === 'stored') {
    const { config, ...recipe } = parseBody(item).recipe
    return { ...recipe, config: recipe.difficulty === null ? config : undefined } // a difficulty implies its config
  }
  const { task, config, difficulty, position, retry } = item
  return { task, config, difficulty, seed: seedAt(settings.seed, position, retry) }
}

function describeLack(items: readonly Item[], count: number, reason: string): string {
  return `${items.length} of ${count} items: ${reason}.`
}
