/** The positions of a run's sequence in Redis: opened, claimed, made and issued. */

import { type Recipe, TRAINING_SEEDS_START } from '@reasoning-gym-server/contract/recipe'
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { formatChannel } from '../../../platform/redis/notifications.ts'
import { redisNow } from '../../../platform/redis/redis-clock.ts'
import { defineScript } from '../../../platform/redis/scripts.ts'
import { splitList } from '../../../platform/split-list.ts'
import { type AllRunKeys, backlogRecord, createRunKeys, type RunKeys, runRecord, STATE_CONSTANTS } from '../records.ts'
import type { ResolvedRun, StoredRun } from '../types.ts'
import {
  decodeChunk,
  NO_ITEM,
  POSITIONS_PER_CHUNK,
  parseVariant,
  RECORD_BYTES,
  roundPropensity,
  STEPS_PER_CHUNK,
} from './issued-items.ts'
import { encodeMadeState, type LadderPlacement, type MadeItem, parseDifficulty } from './position-state.ts'
import { positionOfSeed, SEED_STRIDE } from './sequence.ts'

const LIMITS = {
  /** More than any caller needs. A checkpoint could name any number, and a long script would block Redis for all clients. */
  open_positions: 2000,
  /** Number of already requested positions that one script skips. The next call continues from there. */
  walk: 16_384,
  /** How long a process may take to make the item of a claimed position before another one may claim it. */
  claim_ms: 30_000,
  /** How long calls wait for a new position. After that, it goes to the next call that finds its item made. */
  new_position_wait_ms: 1500,
  /** Number of failed attempts after which a position is skipped or draws another task. */
  attempts: 2,
  /** Number of skipped positions to list, the latest ones. */
  skipped_positions: 100,
  /** Limit of leases. Leases beyond it are dropped, those that end first before the others. */
  leases: 1_000_000,
  /**
   * How long a repeated call finds the items that an interrupted call was given. Later, they are handed to other calls
   * when their leases expire.
   */
  taken_items_ms: 10 * 60 * 1000,
  /** Number of positions after which a question may be used once more. At most 15 MB per run in Redis. */
  remembered_questions: 131_072,
  /** How far beyond the positions in use a position may be requested by number. At most 16 MB per run in Redis. */
  positions_ahead: 2 ** 20,
  /** Number of positions with distinct seeds. From here on, the seeds of the first positions repeat. */
  addressable_positions: SEED_STRIDE,
}

/** Constants of the scripts that include parts/sequence.lua. */
export const SEQUENCE_CONSTANTS = {
  LIMITS,
  RUN: runRecord.constants,
  BACKLOG: backlogRecord.constants,
  STATE: STATE_CONSTANTS,
  ISSUED: {
    positions_per_chunk: POSITIONS_PER_CHUNK,
    record_bytes: RECORD_BYTES,
    no_item: NO_ITEM,
    steps_per_chunk: STEPS_PER_CHUNK,
  },
}

/** Lists the keys that scripts are called with. `states` are those of the open positions or of the requested ones. */
export function listScriptKeys(
  all: AllRunKeys,
  { name, epoch }: Pick<StoredRun, 'name' | 'epoch'>,
  scope: 'open' | 'requested' = 'open',
): RunKeys & { states: string } {
  const keys = all.forRun(name, epoch)
  return { ...keys, states: scope === 'open' ? keys.positionStates : keys.requestedPositions }
}

const LISTED_SKIPPED_POSITIONS = 20

const issueItems = defineScript(import.meta.dirname, 'issue-items', SEQUENCE_CONSTANTS)
const claimPositionsToMake = defineScript(import.meta.dirname, 'claim-positions-to-make', SEQUENCE_CONSTANTS)
const storeItem = defineScript(import.meta.dirname, 'store-item', SEQUENCE_CONSTANTS)
const releasePosition = defineScript(import.meta.dirname, 'release-position', SEQUENCE_CONSTANTS)

/**
 * The positions to work on: open ones, of which the run keeps `prefetchTarget`, or those that a step or a call by
 * number requested.
 */
export type PositionScope =
  | { kind: 'open'; prefetchTarget: number }
  | { kind: 'requested'; positions: number[]; by: 'step' | 'number' }

export interface ClaimedPosition {
  position: number
  /** Task that was drawn for the position before, and the probability with which it was. */
  previous: { task: string; share: number | undefined } | undefined
  /** Tasks that were drawn for the position and have no item for it. */
  triedTasks: string[]
}

/** A made item: its stored text or, if that is no longer kept, what is needed to make it again. */
export type SequenceItem =
  | ({ kind: 'stored'; position: number; body: string } & Pick<MadeItem, 'difficulty' | 'propensity'>)
  | ({ kind: 'expired'; position: number } & MadeItem)

/** `again`: the item was handed out before, and its lease has expired. */
type TakenItem = SequenceItem & { again: boolean }

export interface TakenItems {
  /** Items that the token was given before, then those with an expired lease. Only the recipe of either is kept. */
  items: TakenItem[]
  /** Number of new items that `max_groups_ahead` allowed for this call. */
  capacity: number
  prefetchedCount: number
  /** Positions whose items the call waits for, if it got no new ones, and for how long at most. */
  missing: string[]
  patienceMs: number
}

export interface SkippedPosition {
  position: number
  task: string
  seed: number
  difficulty: number | null
  /** `failed`: the item could not be made. `eval_item`: every seed gives a question of a frozen suite. */
  reason: 'failed' | 'eval_item'
  detail: string
  time: string
}

/** Why a claimed position got no item: an infrastructure failure, a failure of the item, or only held-out questions. */
export type PositionFault = 'ours' | 'item' | 'held_out'

/** Whether an item was stored. `not_wanted`: another item came first, or the run has moved on. */
export type StoreOutcome = 'stored' | 'not_wanted' | 'asked_before'

/** An item to store, and how it was chosen among those of its position's seeds. */
export interface StorableItem extends MadeItem {
  position: number
  /** Probability with which the task was drawn. */
  share?: number | undefined
  body: string
  placement?: LadderPlacement | undefined
  /** Hash of its question, if no other position may ask it. */
  question?: string | undefined
  /** Number of seeds that were passed over, by reason. */
  passedOver?: { evalItems: number; repeats: number; unanswerable: number } | undefined
  /** Whether every seed gives a question that was asked before. */
  isRepeated?: boolean | undefined
}

/**
 * A run's sequence is endless, and position p identifies its p-th item. A position is in one of these states:
 *
 *     not opened ──► unmade ◄──► claimed ──► made ──► issued
 *                      ▲            │          │
 *                      │            └► skipped │
 *                      └───────────────────────┘
 *
 * - The run keeps some positions *open*, ahead of demand. An open position is unmade, claimed or made.
 * - *Unmade*: no process is making its item. *Claimed*: a process has 30 s to make its item. If the attempt fails or
 *   the time is up, the position is unmade again. After two failures of the item itself, it is *skipped* and listed.
 * - A position has sixteen seeds. A seed at which the library raises, or whose item has no answer that hardened scoring
 *   rewards, is passed over on every node alike. If the run excludes the questions of eval items, or those it has
 *   asked, the claiming process takes the first seed whose question is allowed. If all of them were asked, it uses the
 *   first one again; if all are held out, the position is skipped. If several positions compete for a question, the
 *   lowest one gets it, regardless of which item was made first.
 * - *Made*: its item is stored. If the settings change, or the curriculum leaves the rung that the item was made for,
 *   an open position is unmade again. It keeps its place, and its task if the sampling follows the model and the
 *   settings are the same.
 * - *Issued*: a caller was given its item, which is final from then on. The task with its config, the difficulty and
 *   the seed are kept as long as the run exists, 15 bytes per position (issued-items.ts), and are part of checkpoints.
 *   So a later request for the position gets the same item, made again if necessary, whatever tasks the run has now.
 *   Only a restart of the sequence forgets them.
 *
 * What the words mean, and the keys of a run that hold them:
 *
 * - *requested*: a step or a call by number wants the item, which is not issued yet (`requestedPositions`).
 * - *issued*: the item is final (`issuedItems`, with the variants of its tasks in `issuedTasks`).
 * - *leased*: issued by the queue, until a group for it comes in or the lease ends (`leaseExpiries`, `leasedItems`).
 * - *taken*: issued to a call that can be repeated, until its response is stored (`takenItems`).
 *
 * A caller can get the item of a position in three ways, each of which makes the position unavailable to the others:
 *
 * - The *queue* hands out made positions in order and leases them. A group for the item ends the lease, in whichever
 *   way the caller got the item. If the lease expires first, the item is handed out again. The queue passes by skipped
 *   positions.
 * - A *step* takes the next open positions for itself, made or not. They become *requested*, which is neither open nor
 *   issued: they go from unmade to claimed to made as before, and are issued together once all are made. A skipped
 *   position is replaced by the next open one. The step keeps the list of its positions as long as the run exists.
 * - A call *by number* requests any positions, in any order. It gets the items of issued positions, and the other
 *   positions are requested as for a step. Positions that the queue or a step has skipped are tried again. A caller
 *   that counts positions cannot take the next one instead, so a position that would be skipped draws another task of
 *   the run, up to three times (DRAWS_PER_POSITION). If no draw has an item, the position never gets one, and every
 *   call gets the same error. Neither steps nor calls by number lease items: `max_groups_ahead` does not delay them,
 *   and their items are not handed out to other callers.
 *
 * Positions requested by number may lie far beyond those that the queue has opened (by LIMITS.positions_ahead at most).
 * When the queue reaches them, it passes them by.
 *
 * A restored checkpoint brings back what was issued when it was taken; requested positions become unmade ones. What was
 * issued later is forgotten and made again with the settings and levels of the checkpoint.
 *
 * Each arrow is one script, so that any number of processes can work on one run. If the epoch has ended or the settings
 * have changed, the script rejects what its caller was about to store.
 */
export class PositionRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #channel: string

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
    this.#channel = formatChannel(keys)
  }

  /** The topic of the notifications of made items. The details are their positions. */
  getTopic(run: StoredRun): string {
    return this.#runKeys(run).openPositions
  }

  /**
   * Leases up to `count` items and sets the number of positions that the run keeps open to `prefetchTarget`. Returns
   * undefined if the run began a new epoch or has other settings. With `isFinal`, does not wait for new positions. Items taken under a token
   * are recorded under it; recorded ones beyond the first `received` come first.
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
    const keys = { ...this.#scriptKeys(run), takenItems: this.#takenItemsKey(run, token) }
    // the types of the script's reply
    const call = {
      epoch: String(run.epoch),
      revision: String(run.revision),
      count,
      now: redisNow(),
      is_final: options.isFinal,
      to_open: Math.max(options.prefetchTarget, count),
      lease_ms: Math.round(options.leaseMs),
      max_ahead: options.maxAhead ?? 0,
      is_recorded: token !== '',
      received,
      prefetch_target: options.prefetchTarget,
    }
    const reply = (await issueItems(this.#redis, keys, [JSON.stringify(call)])) as
      | ['run_changed']
      | [...counts: [number, number, number, number], missing: string, patienceMs: number, ...texts: string[]]
    if (reply[0] === 'run_changed') return undefined
    const [capacity, taken, reissued, prefetchedCount, missing, patienceMs, ...texts] = reply
    const items = splitList(texts, 5).map(([position = '', what = '', text = '', retry, drawn], k): TakenItem => {
      const { again, difficulty } =
        k < taken ? parseTakenDifficulty(text) : { again: k < taken + reissued, difficulty: text }
      const propensity = roundPropensity(Number(drawn))
      const label = { position: Number(position), difficulty: parseDifficulty(difficulty), propensity, again }
      return k < taken + reissued
        ? { kind: 'expired', ...parseVariant(what), ...(Number(retry) > 0 && { retry: Number(retry) }), ...label }
        : { kind: 'stored', body: what, ...label }
    })
    return { items, capacity, prefetchedCount, missing: missing === '' ? [] : missing.split(','), patienceMs }
  }

  /** Forgets what was taken under the token, because the caller has received it. */
  async forgetTaken(run: StoredRun, token: string): Promise<void> {
    await this.#redis.unlink(this.#takenItemsKey(run, token))
  }

  async claim(run: StoredRun, scope: PositionScope, count: number): Promise<ClaimedPosition[]> {
    const toOpen = scope.kind === 'open' ? Math.max(scope.prefetchTarget, count) : 0
    const requested = scope.kind === 'requested' ? scope.positions : undefined
    const call = { epoch: String(run.epoch), count, now: redisNow(), to_open: toOpen, requested }
    // the types of the script's reply
    const keys = this.#scriptKeys(run, scope)
    const claimed = (await claimPositionsToMake(this.#redis, keys, [JSON.stringify(call)])) as string[]
    return splitList(claimed, 4).map(([position, variant, share, tried]) => ({
      position: Number(position),
      previous: variant ? { task: parseVariant(variant).task, share: share ? Number(share) : undefined } : undefined,
      triedTasks: tried ? tried.split(',') : [],
    }))
  }

  async store(run: StoredRun, scope: PositionScope, item: StorableItem): Promise<StoreOutcome> {
    const { position, body, placement, question, passedOver, isRepeated } = item
    const made = {
      epoch: String(run.epoch),
      revision: String(run.revision),
      position: String(position),
      state: encodeMadeState(item, scope.kind === 'open' ? placement : undefined),
      body: scope.kind === 'open' ? body : undefined,
      now: redisNow(),
      question,
      passed_over_eval_items: passedOver?.evalItems ?? 0,
      passed_over_repeats: passedOver?.repeats ?? 0,
      passed_over_unanswerable: passedOver?.unanswerable ?? 0,
      repeated_items: isRepeated ? 1 : 0,
      channel: this.#channel,
    }
    const reply = await storeItem(this.#redis, this.#scriptKeys(run, scope), [JSON.stringify(made)])
    if (reply === -1) return 'asked_before'
    return reply === 1 ? 'stored' : 'not_wanted'
  }

  /**
   * Gives up a claim. Returns true if the position is now skipped: after two failures of the item, or because its
   * questions are held out. A position requested by number first draws another task, unless this was the last draw.
   */
  async release(
    run: StoredRun,
    scope: PositionScope,
    skipped: SkippedPosition,
    fault: PositionFault,
    isLastDraw = true,
  ): Promise<boolean> {
    const released = {
      epoch: String(run.epoch),
      revision: String(run.revision),
      position: String(skipped.position),
      fault,
      skipped: JSON.stringify(skipped),
      task: skipped.task,
      requested_by: scope.kind === 'open' ? undefined : scope.by,
      is_last_draw: isLastDraw,
      channel: this.#channel,
    }
    return (await releasePosition(this.#redis, this.#scriptKeys(run, scope), [JSON.stringify(released)])) === 1
  }

  /** Returns the propensity of an item, or undefined if the run has not issued it. */
  async getPropensity(run: ResolvedRun, { task, seed, difficulty }: Recipe): Promise<number | undefined> {
    if (seed < TRAINING_SEEDS_START) return undefined
    const { issuedItems, issuedTasks } = this.#runKeys(run)
    const position = positionOfSeed(run.settings.seed, seed)
    const place = position % POSITIONS_PER_CHUNK
    const chunk = await this.#redis.hgetBuffer(issuedItems, String((position - place) / POSITIONS_PER_CHUNK))
    const record = chunk ? decodeChunk(chunk)[place] : undefined
    if (record?.kind !== 'item' || record.difficulty !== difficulty) return undefined
    const variant = await this.#redis.lindex(issuedTasks, record.variant)
    return variant && parseVariant(variant).task === task ? record.propensity : undefined
  }

  /** Lists the positions that were skipped last, newest first. */
  async listSkipped(run: StoredRun): Promise<SkippedPosition[]> {
    const texts = await this.#redis.lrange(this.#runKeys(run).skippedPositions, 0, LISTED_SKIPPED_POSITIONS - 1)
    return texts.map((text) => JSON.parse(text) as SkippedPosition) // written by release
  }

  #scriptKeys(run: StoredRun, { kind }: Pick<PositionScope, 'kind'> = { kind: 'open' }) {
    return listScriptKeys(this.#keys, run, kind)
  }

  /** What was taken before a rewind is not taken anymore. */
  #takenItemsKey(run: StoredRun, token: string): string {
    const { rewinds } = run.counters
    return this.#runKeys(run).takenItems(rewinds === undefined ? token : `${token}:${rewinds}`)
  }

  #runKeys({ name, epoch }: StoredRun): RunKeys {
    return this.#keys.forRun(name, epoch)
  }
}

/** Parses a recorded difficulty, which starts with a sign if the item is issued again. */
function parseTakenDifficulty(text: string): { again: boolean; difficulty: string } {
  return text.startsWith('~') ? { again: true, difficulty: text.slice(1) } : { again: false, difficulty: text }
}
