/** A run's sequence in Redis: positions opened, made, handed out and leased. plan.lua says what their states are. */
import type { Redis } from 'ioredis'
import type { Keys, RunKeys } from './keys.ts'
import type { StoredRun } from './runs.ts'
import { loadScript } from './script.ts'

const takeItems = loadScript('take-items-10')
const claimPositions = loadScript('claim-positions-5')
const keepItem = loadScript('keep-item-5')
const returnPosition = loadScript('return-position-4')

/** How long whoever claims a position may take to make its item; then another may. */
const CLAIM_MS = 30_000
/** A new position is waited for this long; after that it goes to whichever call comes when its item is there. */
const FRESH_MS = 1500
/** Leases beyond these are forgotten, the oldest first. */
const LEASES_MAX = 1_000_000
const TRIES_MAX = 2

/** Where the curriculum places an item; null if it does not. */
export interface Placement {
  rungs: number
  low: number
  high: number
}

/** A position whose item is to be made; `drawn` is the task that it had when it was made before. */
export interface Opening {
  position: number
  drawn?: string | undefined
}

/** An item that was handed out: what was kept of it, or what it takes to make it again. */
export type Taken =
  | { kind: 'prepared'; position: number; body: string; label: number | null }
  | { kind: 'again'; position: number; task: string; label: number | null }

export interface Taking {
  taken: Taken[]
  /** New items that max_groups_ahead leaves room for. */
  room: number
  /** Prepared items that are left. */
  prepared: number
}

/** What is listed of a position that was skipped. */
export interface Skipped {
  position: number
  task: string
  seed: number
  difficulty: number | null
  detail: string
  time: string
}

export class Positions {
  readonly #redis: Redis
  readonly #keys: Keys

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** Hands out up to `count` items; undefined if the run began a new epoch. `last`: takes what is there. */
  async take(
    run: StoredRun,
    count: number,
    options: { last: boolean; ahead: number; leaseMs: number; mostAhead: number | null },
  ): Promise<Taking | undefined> {
    const keys = this.#of(run)
    const reply = (await takeItems(
      this.#redis,
      [
        ...[keys.run, keys.open, keys.heads, keys.bodies, keys.leases, keys.leased, keys.curriculum],
        ...[keys.pending, keys.buffer, keys.stock],
      ],
      [
        run.epoch,
        count,
        Date.now(),
        FRESH_MS,
        options.last ? '1' : '0',
        Math.max(options.ahead, count),
        Math.round(options.leaseMs),
        options.mostAhead ?? 0,
        LEASES_MAX,
      ],
    )) as ['epoch'] | [room: number, again: number, prepared: number, ...texts: string[]] // as the script says
    if (reply[0] === 'epoch') return undefined
    const [room, again, prepared, ...texts] = reply as [number, number, number, ...string[]]
    const taken = triples(texts).map(([position, what, label], k): Taken => {
      const at = { position: Number(position), label: labelOf(label) }
      return k < again ? { kind: 'again', task: what, ...at } : { kind: 'prepared', body: what, ...at }
    })
    return { taken, room, prepared }
  }

  /** Claims up to `count` positions whose items are to be made. */
  async claim(run: StoredRun, count: number, ahead: number): Promise<Opening[]> {
    const keys = this.#makingKeys(run)
    const args = [run.epoch, count, Date.now(), CLAIM_MS, Math.max(ahead, count)]
    const claimed = (await claimPositions(this.#redis, keys, args)) as string[] // as the script says
    return Array.from({ length: claimed.length / 2 }, (_, k) => ({
      position: Number(claimed[2 * k]),
      drawn: claimed[2 * k + 1] || undefined,
    }))
  }

  /** False if the run has moved on: other settings, another rung, another epoch. */
  async keep(
    run: StoredRun,
    position: number,
    { task, label, body }: { task: string; label: number | null; body: string },
    placement: Placement | null,
  ): Promise<boolean> {
    const keys = this.#makingKeys(run)
    const { rungs, low, high } = placement ?? { rungs: 0, low: 0, high: 1 }
    const head = [task, rungs, low, high, label ?? ''].join('|')
    const args = [run.epoch, run.revision, position, head, body, Date.now()]
    return (await keepItem(this.#redis, keys, args)) === 1
  }

  /** Returns a claimed position; true if it is skipped for good. `counts`: the fault lay in the item. */
  async giveBack(run: StoredRun, skipped: Skipped, counts: boolean): Promise<boolean> {
    const keys = this.#of(run)
    const args = [run.epoch, skipped.position, counts ? '1' : '0', TRIES_MAX, JSON.stringify(skipped)]
    return (await returnPosition(this.#redis, [keys.run, keys.open, keys.heads, keys.skipped], args)) === 1
  }

  /** The positions that were skipped last, newest first. */
  async skipped(run: StoredRun): Promise<Skipped[]> {
    const texts = await this.#redis.lrange(this.#of(run).skipped, 0, 19)
    return texts.map((text) => JSON.parse(text) as Skipped) // written by giveBack
  }

  #makingKeys(run: StoredRun): string[] {
    const keys = this.#of(run)
    return [keys.run, keys.open, keys.heads, keys.bodies, keys.curriculum]
  }

  #of({ name, epoch }: StoredRun): RunKeys {
    return this.#keys.ofRun(name, epoch)
  }
}

export function labelOf(text: string): number | null {
  return text === '' ? null : Number(text)
}

export function triples(texts: string[]): [string, string, string][] {
  return Array.from({ length: texts.length / 3 }, (_, k) => texts.slice(3 * k, 3 * k + 3) as [string, string, string])
}
