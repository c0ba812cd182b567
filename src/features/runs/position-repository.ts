/** A run's sequence in Redis: positions opened, made, handed out and leased. plan.lua says what their states are. */
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { type AllRunKeys, createRunKeys, type RunKeys } from './keys.ts'
import type { StoredRun } from './repository.ts'

const takeItems = defineScript({
  folder: import.meta.dirname,
  name: 'take-items',
  keys: [
    'run',
    'openPositions',
    'positionStates',
    'itemBodies',
    'leaseExpiries',
    'leasedItems',
    'curriculum',
    'pendingGroups',
    'buffer',
    'backlog',
  ],
})
const claimPositions = defineScript({
  folder: import.meta.dirname,
  name: 'claim-positions',
  keys: ['run', 'openPositions', 'positionStates', 'itemBodies', 'curriculum'],
})
const storeItem = defineScript({
  folder: import.meta.dirname,
  name: 'store-item',
  keys: ['run', 'openPositions', 'positionStates', 'itemBodies', 'curriculum'],
})
const releasePosition = defineScript({
  folder: import.meta.dirname,
  name: 'release-position',
  keys: ['run', 'openPositions', 'positionStates', 'skippedPositions'],
})

/** How long whoever claims a position may take to make its item; then another may. */
const POSITION_CLAIM_TTL_MS = 30_000
/** A new position is waited for this long; after that it goes to whichever call comes when its item is there. */
const NEW_POSITION_WAIT_MS = 1500
/** Leases beyond these are forgotten, the oldest first. */
const MAX_LEASES = 1_000_000
const MAX_ITEM_ATTEMPTS = 2

/** Where the curriculum places an item; null if it does not. */
export interface LadderBounds {
  rungs: number
  low: number
  high: number
}

/** A position whose item is to be made; `drawn` is the task that it had when it was made before. */
export interface PositionClaim {
  position: number
  previousTask?: string | undefined
}

/** An item that was handed out: what was kept of it, or what it takes to make it again. */
export type TakenItem =
  | { kind: 'prepared'; position: number; body: string; label: number | null }
  | { kind: 'again'; position: number; task: string; label: number | null }

export interface TakeItemsResult {
  items: TakenItem[]
  /** New items that max_groups_ahead leaves room for. */
  remainingCapacity: number
  /** Prepared items that are left. */
  preparedCount: number
}

/** What is listed of a position that was skipped. */
export interface SkippedPosition {
  position: number
  task: string
  seed: number
  difficulty: number | null
  detail: string
  time: string
}

export class PositionRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
  }

  /** Hands out up to `count` items; undefined if the run began a new epoch. `last`: takes what is there. */
  async takeItems(
    run: StoredRun,
    count: number,
    options: { last: boolean; ahead: number; leaseMs: number; mostAhead: number | null },
  ): Promise<TakeItemsResult | undefined> {
    const reply = (await takeItems(this.#redis, this.#runKeys(run), [
      run.epoch,
      count,
      Date.now(),
      NEW_POSITION_WAIT_MS,
      options.last ? '1' : '0',
      Math.max(options.ahead, count),
      Math.round(options.leaseMs),
      options.mostAhead ?? 0,
      MAX_LEASES,
    ])) as ['epoch'] | [room: number, again: number, prepared: number, ...texts: string[]] // as the script says
    if (reply[0] === 'epoch') return undefined
    const [room, again, prepared, ...texts] = reply as [number, number, number, ...string[]]
    const taken = groupInTriples(texts).map(([position, what, label], k): TakenItem => {
      const at = { position: Number(position), label: parseDifficulty(label) }
      return k < again ? { kind: 'again', task: what, ...at } : { kind: 'prepared', body: what, ...at }
    })
    return { items: taken, remainingCapacity: room, preparedCount: prepared }
  }

  /** Claims up to `count` positions whose items are to be made. */
  async claimPositions(run: StoredRun, count: number, ahead: number): Promise<PositionClaim[]> {
    const keys = this.#runKeys(run)
    const args = [run.epoch, count, Date.now(), POSITION_CLAIM_TTL_MS, Math.max(ahead, count)]
    const claimed = (await claimPositions(this.#redis, keys, args)) as string[] // as the script says
    return Array.from(
      { length: claimed.length / 2 },
      (_, k): PositionClaim => ({
        position: Number(claimed[2 * k]),
        previousTask: claimed[2 * k + 1] || undefined,
      }),
    )
  }

  /** False if the run has moved on: other settings, another rung, another epoch. */
  async storeItem(
    run: StoredRun,
    position: number,
    { task, label, body }: { task: string; label: number | null; body: string },
    placement: LadderBounds | null,
  ): Promise<boolean> {
    const keys = this.#runKeys(run)
    const { rungs, low, high } = placement ?? { rungs: 0, low: 0, high: 1 }
    const head = [task, rungs, low, high, label ?? ''].join('|')
    const args = [run.epoch, run.revision, position, head, body, Date.now()]
    return (await storeItem(this.#redis, keys, args)) === 1
  }

  /** Returns a claimed position; true if it is skipped for good. `counts`: the fault lay in the item. */
  async releaseClaim(run: StoredRun, skipped: SkippedPosition, counts: boolean): Promise<boolean> {
    const keys = this.#runKeys(run)
    const args = [run.epoch, skipped.position, counts ? '1' : '0', MAX_ITEM_ATTEMPTS, JSON.stringify(skipped)]
    return (await releasePosition(this.#redis, keys, args)) === 1
  }

  /** The positions that were skipped last, newest first. */
  async listSkipped(run: StoredRun): Promise<SkippedPosition[]> {
    const texts = await this.#redis.lrange(this.#runKeys(run).skippedPositions, 0, 19)
    return texts.map((text) => JSON.parse(text) as SkippedPosition) // written by giveBack
  }

  #runKeys({ name, epoch }: StoredRun): RunKeys {
    return this.#keys.forRun(name, epoch)
  }
}

export function parseDifficulty(text: string): number | null {
  return text === '' ? null : Number(text)
}

export function groupInTriples(texts: string[]): [string, string, string][] {
  return Array.from({ length: texts.length / 3 }, (_, k) => texts.slice(3 * k, 3 * k + 3) as [string, string, string])
}
