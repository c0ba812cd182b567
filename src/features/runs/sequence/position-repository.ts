/** The positions of a run's sequence in Redis: opened, claimed, made, handed out, leased or assigned to a step. */
import type { Redis } from 'ioredis'
import { fleetNow } from '../../../platform/redis/fleet-clock.ts'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { defineScript } from '../../../platform/redis/scripts.ts'
import { type AllRunKeys, createRunKeys, type RunKeys } from '../keys.ts'
import type { StoredRun } from '../repository.ts'
import { backlogRecord, runRecord } from '../run-record.ts'
import {
  decodePositionState,
  encodeMadeState,
  type LadderPlacement,
  type MadeItem,
  parseDifficulty,
} from './position-state.ts'

const LIMITS = {
  /** More than anybody asks for. A checkpoint could name any number, and a script that walks for long stops everybody. */
  open_positions: 2000,
  /** How long a process may take to make the item of a position that it has claimed; then another may claim it. */
  claim_ms: 30_000,
  /** Callers wait this long for a new position; after that it goes to the next call that finds its item made. */
  new_position_wait_ms: 1500,
  /** A position is skipped after this many failed attempts. */
  attempts: 2,
  /** Of the skipped positions the last are listed. */
  skipped_positions: 100,
  /** Leases beyond these are dropped, those that end first before the others. */
  leases: 1_000_000,
  /** For so long a call may find what it was handed before it was broken off. Later the items go to others, with their leases. */
  taken_items_ms: 10 * 60 * 1000,
  /** The items of a step are kept for this long; after that they are made again from their recipes. */
  step_body_ms: 60 * 60 * 1000,
  /** Beyond these, the steps that were used longest ago are forgotten. Step numbers do not decide: a trainer may start over. */
  steps: 256,
  /** A question may be asked again this many positions later. At most 15 MB of a run in Redis. */
  remembered_questions: 131_072,
}
const LISTED_SKIPPED_POSITIONS = 20

const SEQUENCE_KEYS = [
  'run',
  'openPositions',
  'positionStates',
  'itemBodies',
  'curriculum',
  'states',
  'bodies',
] as const
type SequenceKey = (typeof SEQUENCE_KEYS)[number]

const defineSequenceScript = <const Key extends string = never>(name: string, keys: readonly Key[] = []) =>
  defineScript<SequenceKey | Key>({
    folder: import.meta.dirname,
    name,
    keys: [...SEQUENCE_KEYS, ...keys],
    constants: { LIMITS, RUN: runRecord.constants, BACKLOG: backlogRecord.constants },
  })

const takeItems = defineSequenceScript('take-items', [
  'leaseExpiries',
  'leasedItems',
  'takenItems',
  'pendingGroups',
  'buffer',
  'backlog',
])
const assignStep = defineSequenceScript('assign-step', ['steps'])
const claimPositions = defineSequenceScript('claim-positions')
const storeItem = defineSequenceScript('store-item', ['questions'])
const releasePosition = defineSequenceScript('release-position', ['skippedPositions'])

/** Which positions to work on: those that are open, of which the run keeps `prefetchTarget`, or those of a step. */
export type PositionScope = { kind: 'open'; prefetchTarget: number } | { kind: 'step'; step: number }

/** A position whose item is to be made, and the task that was drawn for it before. */
export interface ClaimedPosition {
  position: number
  previousTask: string | undefined
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

/** An item of a step, which may be still to make. */
export type StepItem = SequenceItem | { kind: 'unmade'; position: number }

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
 *     not opened ──► unmade ◄──► claimed ──► made ──► leased ──► done
 *                      ▲            │          │         │
 *                      │            └► skipped │         └► leased again
 *                      └───────────────────────┘
 *
 * - The run keeps some positions *open*, ahead of demand. An open position is unmade, claimed or made.
 * - *Unmade*: nobody makes its item. *Claimed*: a process makes it and has 30 s for that. If the attempt fails or the time
 *   is up the position is unmade again; after two failures that were the item's own it is *skipped* for good and listed.
 * - A position has sixteen seeds. One at which the library raises, or to whose item hardened scoring pays no answer, is passed
 *   over, on every node alike. Where the run excludes the questions of eval items, or those that it has asked, the claiming
 *   process takes the first seed whose question is allowed. If all of them were asked, the first one is asked again; if all
 *   are held out, the position is skipped. The lowest position that wants a question gets it, whoever was faster.
 * - *Made*: its item is stored. If the settings change, or the curriculum leaves the rung that the item was made for, the
 *   position is unmade again. It keeps its place, and its task where the sampling follows the model.
 * - *Leased*: the item was handed out, in the order of the positions, and is not open any more. When a group for it is
 *   accepted it is *done*, and nothing is stored of it. When the lease ends first, the item is handed out and leased again.
 * - A training step takes the next open positions for itself instead, made or not, and keeps them. Within the step they
 *   go from unmade to claimed to made as before, but once all are made they are final: everybody who asks gets the same. A skipped
 *   position is replaced by the next open one. The step's positions are not leased.
 *
 * Each arrow is one script, so that any number of processes may work on one run. An epoch that is over, or settings that
 * have changed, make a script refuse what its caller was about to store.
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
    const keys = { ...this.#scopedKeys(run), takenItems: this.#runKeys(run).takenItems(token) }
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

  /** The items of a step. The first call for it decides their number. Undefined if the run has changed. */
  async assignStep(
    run: StoredRun,
    step: number,
    { count, prefetchTarget }: { count: number; prefetchTarget: number },
  ): Promise<StepItem[] | undefined> {
    const keys = this.#runKeys(run)
    const prefixes = [keys.stepItems(''), keys.stepItemBodies('')]
    const args = [run.epoch, run.revision, count, fleetNow(), prefetchTarget, step, ...prefixes]
    const texts = (await assignStep(this.#redis, this.#scopedKeys(run, step), args)) as string[] // as the script says
    if (texts[0] === 'run_changed') return undefined
    return groupInTuples(texts, 3).map(([position, json = '', body = '']): StepItem => {
      const state = decodePositionState(json)
      if (state.kind === 'unmade') return { kind: 'unmade', position: Number(position) }
      const at = Number(position)
      return body === ''
        ? { kind: 'expired', position: at, ...state.item }
        : { kind: 'stored', position: at, body, difficulty: state.item.difficulty }
    })
  }

  /** Claims up to `count` unmade positions. */
  async claim(run: StoredRun, scope: PositionScope, count: number): Promise<ClaimedPosition[]> {
    const toOpen = scope.kind === 'open' ? Math.max(scope.prefetchTarget, count) : 0
    const args = [run.epoch, count, fleetNow(), scope.kind, toOpen]
    const claimed = (await claimPositions(this.#redis, this.#scopedKeys(run, stepOf(scope)), args)) as string[] // as the script says
    return groupInTuples(claimed, 2).map(([position, task]) => ({
      position: Number(position),
      previousTask: task || undefined,
    }))
  }

  async store(run: StoredRun, scope: PositionScope, item: StorableItem): Promise<StoreOutcome> {
    const { position, body, placement, question = '', passedOver = { evalItems: 0, repeats: 0 } } = item
    const state = encodeMadeState(item, scope.kind === 'open' ? placement : undefined)
    const choice = [question, passedOver.evalItems, passedOver.repeats, item.isRepeated ? '1' : '0']
    const args = [run.epoch, run.revision, position, state, body, fleetNow(), scope.kind, ...choice]
    const reply = await storeItem(this.#redis, this.#scopedKeys(run, stepOf(scope)), args)
    if (reply === -1) return 'asked_before'
    return reply === 1 ? 'stored' : 'not_wanted'
  }

  /** Gives up a claim; true if the position is skipped now: after two attempts that were the item's fault, or held out. */
  async release(
    run: StoredRun,
    scope: PositionScope,
    skipped: SkippedPosition,
    fault: PositionFault,
  ): Promise<boolean> {
    const listed = JSON.stringify(skipped)
    const args = [run.epoch, skipped.position, fault, listed, fleetNow(), scope.kind]
    return (await releasePosition(this.#redis, this.#scopedKeys(run, stepOf(scope)), args)) === 1
  }

  /** The positions that were skipped last, newest first. */
  async listSkipped(run: StoredRun): Promise<SkippedPosition[]> {
    const texts = await this.#redis.lrange(this.#runKeys(run).skippedPositions, 0, LISTED_SKIPPED_POSITIONS - 1)
    return texts.map((text) => ({ reason: 'failed', ...JSON.parse(text) }) as SkippedPosition) // written by release, earlier without a reason
  }

  /** The run's keys, with `states` and `bodies` of its open positions or of a step. */
  #scopedKeys(run: StoredRun, step?: number): RunKeys & { states: string; bodies: string } {
    const keys = this.#runKeys(run)
    return step === undefined
      ? { ...keys, states: keys.positionStates, bodies: keys.itemBodies }
      : { ...keys, states: keys.stepItems(step), bodies: keys.stepItemBodies(step) }
  }

  #runKeys({ name, epoch }: StoredRun): RunKeys {
    return this.#keys.forRun(name, epoch)
  }
}

/** The note of an item that is issued again begins with a sign. */
function parseNotedDifficulty(text: string): { again: boolean; difficulty: string } {
  return text.startsWith('~') ? { again: true, difficulty: text.slice(1) } : { again: false, difficulty: text }
}

function stepOf(scope: PositionScope): number | undefined {
  return scope.kind === 'step' ? scope.step : undefined
}

function groupInTuples(texts: string[], size: number): string[][] {
  return Array.from({ length: texts.length / size }, (_, k) => texts.slice(size * k, size * (k + 1)))
}
