/** The positions of a run's sequence in Redis: opened, claimed, made and issued. */
import type { Redis } from 'ioredis'
import { fleetNow } from '../../../platform/redis/fleet-clock.ts'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { type AllRunKeys, createRunKeys, type RunKeys } from '../keys.ts'
import type { StoredRun } from '../repository.ts'
import { encodeMadeState, type LadderPlacement, type MadeItem, parseDifficulty } from './position-state.ts'
import { defineSequenceScript, listScriptKeys } from './sequence-scripts.ts'

const LISTED_SKIPPED_POSITIONS = 20

const takeItems = defineSequenceScript('take-items', [
  'leaseExpiries',
  'leasedItems',
  'takenItems',
  'pendingGroups',
  'buffer',
  'backlog',
])
const claimPositions = defineSequenceScript('claim-positions')
const storeItem = defineSequenceScript('store-item', ['questions'])
const releasePosition = defineSequenceScript('release-position', ['skippedPositions'])

/**
 * Which positions to work on: those that are open, of which the run keeps `prefetchTarget`, or those that a step or a call by
 * number asked for.
 */
export type PositionScope =
  | { kind: 'open'; prefetchTarget: number }
  | { kind: 'requested'; positions: number[]; by: 'step' | 'number' }

/** A position whose item is to be made. */
export interface ClaimedPosition {
  position: number
  /** The task that was drawn for it before. */
  previousTask: string | undefined
  /** Tasks that were drawn for it and have no item for it. */
  triedTasks: string[]
}

/** A made item: the stored one or, where that is no longer kept, what it takes to make it again. */
export type SequenceItem =
  | { kind: 'stored'; position: number; difficulty: number | null; body: string }
  | ({ kind: 'expired'; position: number } & MadeItem)

/** `again`: it was handed out before, and its lease has expired. */
export type TakenItem = SequenceItem & { again: boolean }

export interface TakenItems {
  /** Those that the token was handed before, then those with an expired lease; nothing but their recipe is kept. */
  items: TakenItem[]
  /** New items that `max_groups_ahead` allowed for this call. */
  capacity: number
  /** Made items that are left. */
  preparedCount: number
}

/** What is listed of a position that was skipped. */
export interface SkippedPosition {
  position: number
  task: string
  seed: number
  difficulty: number | null
  /** `failed`: it could not be made; `eval_item`: each of its seeds gives a question of a frozen suite. */
  reason: 'failed' | 'eval_item'
  detail: string
  time: string
}

/** Why a claimed position got no item: our failure, the item's, or because every seed gives a held-out question. */
export type PositionFault = 'ours' | 'item' | 'held_out'

/** Whether an item was stored. Not wanted: another came first, or the run has moved on. */
export type StoreOutcome = 'stored' | 'not_wanted' | 'asked_before'

/** An item to store, and how it was chosen among those of its position's seeds. */
export interface StorableItem extends MadeItem {
  position: number
  body: string
  placement?: LadderPlacement | undefined
  /** Hash of its question, if no other position may ask it. */
  question?: string | undefined
  /** Seeds that were passed over, by reason. */
  passedOver?: { evalItems: number; repeats: number } | undefined
  /** No seed gives a question that was not asked before. */
  isRepeated?: boolean | undefined
}

/**
 * A run's sequence is endless; position p stands for its p-th item. A position is in one of these states:
 *
 *     not opened ──► unmade ◄──► claimed ──► made ──► issued
 *                      ▲            │          │
 *                      │            └► skipped │
 *                      └───────────────────────┘
 *
 * - The run keeps some positions *open*, ahead of demand. An open position is unmade, claimed or made.
 * - *Unmade*: no process makes its item. *Claimed*: a process makes it and has 30 s for that. If the attempt fails or the time
 *   is up the position is unmade again; after two failures that were the item's own it is *skipped* and listed.
 * - A position has sixteen seeds. One at which the library raises, or to whose item hardened scoring pays no answer, is passed
 *   over, on every node alike. Where the run excludes the questions of eval items, or those that it has asked, the claiming
 *   process takes the first seed whose question is allowed. If all of them were used, the first one is used again; if all
 *   are held out, the position is skipped. Of two positions with the same question, the lower one gets it.
 * - *Made*: its item is stored. If the settings change, or the curriculum leaves the rung that the item was made for, an open
 *   position is unmade again. It keeps its place, and its task where the sampling follows the model.
 * - *Issued*: a caller was given its item, which is final from then on. Task, difficulty and seed are kept for as long as the
 *   run exists, 11 bytes for each position (issued-items.ts), and are part of checkpoints: a later request for the position
 *   gets the same item, made again if necessary. Only a restart of the sequence (new tasks or seed) forgets them.
 *
 * There are three ways to the item of a position, and each takes it from the others:
 *
 * - The *queue* hands out made positions in their order, and leases them. A group for the item ends the lease, whichever way
 *   the caller got it; when the lease ends first, the item is handed out again. A skipped position is passed by.
 * - A *step* takes the next open positions for itself, made or not. They are *requested* then, which is neither open nor
 *   issued: they go from unmade to claimed to made as before, and are issued together once all are made. A skipped position is
 *   replaced by the next open one. The step keeps the list of its positions for as long as the run exists.
 * - A call *by number* asks for any position, in any order: for one that was issued it gets that item, and others are requested
 *   as for a step. One that the queue or a step has skipped is tried again. A caller that counts positions cannot take the
 *   next one instead, so what would be skipped draws another task of the run, up to three times (DRAWS_PER_POSITION). If no
 *   draw has an item, the position has no item forever, and every call gets the same error. Neither steps nor calls by number
 *   lease: `max_groups_ahead` does not hold them up, and what they were given does not come to others.
 *
 * Positions that were asked for by number may lie far beyond those that the queue has opened (by LIMITS.positions_ahead at
 * most); when the queue comes to them it passes them by.
 *
 * A restored checkpoint brings back what was issued when it was taken, with requested positions as unmade ones. What was issued
 * later is forgotten: it is made again with the settings and levels of the checkpoint.
 *
 * Each arrow is one script, so that any number of processes may work on one run. An epoch that is over, or settings that
 * have changed, make a script reject what its caller was about to store.
 */
export class PositionRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
  }

  /**
   * Leases up to `count` items, and has the run keep `prefetchTarget` positions open from now on. Undefined if the run began a
   * new epoch. `isFinal`: does not wait for new positions. What is taken under a token is noted under it; those beyond the
   * first `received` come first.
   */
  async take(
    run: StoredRun,
    count: number,
    options: {
      isFinal: boolean
      prefetchTarget: number
      leaseMs: number
      maxAhead: number | null
      token?: string | undefined
      received?: number
    },
  ): Promise<TakenItems | undefined> {
    const { token = '', received = 0 } = options
    const keys = { ...this.#scriptKeys(run), takenItems: this.#runKeys(run).takenItems(token) }
    const reply = (await takeItems(this.#redis, keys, [
      run.epoch,
      count,
      fleetNow(),
      options.isFinal ? '1' : '0',
      Math.max(options.prefetchTarget, count),
      Math.round(options.leaseMs),
      options.maxAhead ?? 0,
      token === '' ? '0' : '1',
      received,
      options.prefetchTarget,
    ])) as ['epoch_changed'] | [capacity: number, noted: number, reissued: number, prepared: number, ...texts: string[]] // as the script says
    if (reply[0] === 'epoch_changed') return undefined
    const [capacity, noted, reissued, preparedCount, ...texts] = reply as [number, number, number, number, ...string[]]
    const items = groupInTuples(texts, 4).map(([position = '', what = '', text = '', retry], k): TakenItem => {
      const { again, difficulty } =
        k < noted ? parseNotedDifficulty(text) : { again: k < noted + reissued, difficulty: text }
      const label = { position: Number(position), difficulty: parseDifficulty(difficulty), again }
      return k < noted + reissued
        ? { kind: 'expired', task: what, ...(Number(retry) > 0 && { retry: Number(retry) }), ...label }
        : { kind: 'stored', body: what, ...label }
    })
    return { items, capacity, preparedCount }
  }

  /** What was taken under the token has been handed over. */
  async forgetTaken(run: StoredRun, token: string): Promise<void> {
    await this.#redis.unlink(this.#runKeys(run).takenItems(token))
  }

  /** Claims up to `count` unmade positions. */
  async claim(run: StoredRun, scope: PositionScope, count: number): Promise<ClaimedPosition[]> {
    const toOpen = scope.kind === 'open' ? Math.max(scope.prefetchTarget, count) : 0
    const requested = scope.kind === 'requested' ? scope.positions : []
    const args = [run.epoch, count, fleetNow(), scope.kind, toOpen, ...requested]
    const claimed = (await claimPositions(this.#redis, this.#scriptKeys(run, scope), args)) as string[] // as the script says
    return groupInTuples(claimed, 3).map(([position, task, tried]) => ({
      position: Number(position),
      previousTask: task || undefined,
      triedTasks: tried ? tried.split(',') : [],
    }))
  }

  async store(run: StoredRun, scope: PositionScope, item: StorableItem): Promise<StoreOutcome> {
    const { position, body, placement, question = '', passedOver = { evalItems: 0, repeats: 0 } } = item
    const state = encodeMadeState(item, scope.kind === 'open' ? placement : undefined)
    const choice = [question, passedOver.evalItems, passedOver.repeats, item.isRepeated ? '1' : '0']
    const args = [run.epoch, run.revision, position, state, body, fleetNow(), scope.kind, ...choice]
    const reply = await storeItem(this.#redis, this.#scriptKeys(run, scope), args)
    if (reply === -1) return 'asked_before'
    return reply === 1 ? 'stored' : 'not_wanted'
  }

  /**
   * Gives up a claim; true if the position is skipped now: after two attempts that were the item's fault, or held out. One that
   * was asked for by its number draws another task first, unless this was the last draw.
   */
  async release(
    run: StoredRun,
    scope: PositionScope,
    skipped: SkippedPosition,
    fault: PositionFault,
    isLastDraw = true,
  ): Promise<boolean> {
    const listed = JSON.stringify(skipped)
    const forWhom = scope.kind === 'open' ? 'open' : scope.by
    const args = [run.epoch, skipped.position, fault, listed, skipped.task, forWhom, isLastDraw ? '1' : '0']
    return (await releasePosition(this.#redis, this.#scriptKeys(run, scope), args)) === 1
  }

  /** The positions that were skipped last, newest first. */
  async listSkipped(run: StoredRun): Promise<SkippedPosition[]> {
    const texts = await this.#redis.lrange(this.#runKeys(run).skippedPositions, 0, LISTED_SKIPPED_POSITIONS - 1)
    return texts.map((text) => ({ reason: 'failed', ...JSON.parse(text) }) as SkippedPosition) // written by release, earlier without a reason
  }

  #scriptKeys(run: StoredRun, { kind }: Pick<PositionScope, 'kind'> = { kind: 'open' }) {
    return listScriptKeys(this.#keys, run, kind)
  }

  #runKeys({ name, epoch }: StoredRun): RunKeys {
    return this.#keys.forRun(name, epoch)
  }
}

/** The note of an item that is issued again begins with a sign. */
function parseNotedDifficulty(text: string): { again: boolean; difficulty: string } {
  return text.startsWith('~') ? { again: true, difficulty: text.slice(1) } : { again: false, difficulty: text }
}

export function groupInTuples(texts: string[], size: number): string[][] {
  return Array.from({ length: texts.length / size }, (_, k) => texts.slice(size * k, size * (k + 1)))
}
