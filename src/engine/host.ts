/** One Python host as the server sees it: it is given a batch, answers unit by unit, and is watched while it works. */
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { encodeFrame, frameReader } from './frames.ts'
import { type Outcome, readOutcome } from './outcome.ts'

/** What a host may take to build a dataset before it begins with the first unit. */
const PREPARE_MS = 10_000

const SLOW_UNIT_MS = 50

/** On a machine with too much to do a unit may take so many times its deadline before it is given up. */
const STARVED_FACTOR = 8

/** Units of one request that a host works through in order. */
export interface Batch {
  /** Everything of the request but its units. */
  request: Record<string, unknown>
  /** Whose work it is: a task may not take all hosts. */
  task: string
  /** What one unit may take, counted from when the host begins it. */
  deadlineMs: number
  units: { unit: unknown; settle: (outcome: Outcome) => void }[]
}

interface Events {
  /** All units are settled; the host is free. */
  onFree(host: Host): void
  /** The unit in hand is past its deadline: kill this host. */
  onStuck(host: Host): void
  /** The host has ended; `rest` is what it had not begun. */
  onGone(host: Host, rest: Batch | undefined): void
}

/** idle → busy (one unit after another) → idle …, or gone. What was in hand when it went loses its verdict, no other. */
export class Host {
  readonly pid: number
  readonly #socket: Socket
  readonly #events: Events
  #batch: Batch | undefined
  #next = 0
  #timer: NodeJS.Timeout | undefined
  #stuck = false
  #dismissed = false
  #processorMs = 0
  #markedAt = 0
  busySince = 0

  constructor(pid: number, socket: Socket, events: Events) {
    this.pid = pid
    this.#socket = socket
    this.#events = events
    socket.on(
      'data',
      frameReader((message) => this.#settle(message as Record<string, unknown>)),
    ) // host.py writes objects
    socket.once('close', () => this.#gone())
  }

  get task(): string | undefined {
    return this.#batch?.task
  }

  give(batch: Batch): void {
    this.#batch = batch
    this.#next = 0
    this.busySince = performance.now()
    this.#markedAt = this.busySince
    this.#processorMs = processorMs(this.pid)
    this.#watch(PREPARE_MS)
    this.#socket.write(
      encodeFrame({ ...batch.request, deadline_ms: batch.deadlineMs, units: batch.units.map(({ unit }) => unit) }),
    )
  }

  /** What ended it, once it is gone; undefined if it was let go. */
  get endCause(): 'timeout' | 'crashed' | undefined {
    if (this.#stuck) return 'timeout'
    return this.#dismissed ? undefined : 'crashed'
  }

  /** Lets an idle host end. */
  dismiss(): void {
    this.#dismissed = true
    this.#socket.end()
  }

  #watch(deadlineMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#expire(deadlineMs, deadlineMs * STARVED_FACTOR - deadlineMs), deadlineMs)
  }

  /** A host that had less of the processor than its deadline was held up by others, not by its unit: it gets the rest. */
  #expire(deadlineMs: number, patienceMs: number): void {
    const missingMs = deadlineMs - (processorMs(this.pid) - this.#processorMs)
    if (missingMs > 0 && patienceMs > 0) {
      const moreMs = Math.min(missingMs, patienceMs)
      this.#timer = setTimeout(() => this.#expire(deadlineMs, patienceMs - moreMs), moreMs)
      return
    }
    this.#stuck = true
    this.#events.onStuck(this)
  }

  #settle(message: Record<string, unknown>): void {
    const batch = this.#batch
    if (!batch || this.#stuck) return
    if ('begun' in message) {
      this.#markSlow()
      this.#watch(batch.deadlineMs)
      return
    }
    batch.units[this.#next++]?.settle(readOutcome(message))
    if (this.#next < batch.units.length) {
      this.#markSlow()
      this.#watch(batch.deadlineMs)
      return
    }
    clearTimeout(this.#timer)
    this.#batch = undefined
    this.#events.onFree(this)
  }

  /** What a slow unit took of the processor is not held against the next; for quick ones asking would cost more. */
  #markSlow(): void {
    const now = performance.now()
    if (now - this.#markedAt < SLOW_UNIT_MS) return
    this.#markedAt = now
    this.#processorMs = processorMs(this.pid)
  }

  #gone(): void {
    clearTimeout(this.#timer)
    const batch = this.#batch
    this.#batch = undefined
    batch?.units[this.#next]?.settle(
      this.#stuck
        ? { kind: 'lost', reason: 'timeout', detail: `no result within ${batch.deadlineMs} ms` }
        : { kind: 'lost', reason: 'crashed', detail: 'the host ended while it worked on this' },
    )
    const units = batch?.units.slice(this.#next + 1) ?? []
    this.#events.onGone(this, batch && units.length > 0 ? { ...batch, units } : undefined)
  }
}

const TICK_MS = 10

/** Processor time that a process has used; on a system without /proc every wait counts as work. */
function processorMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return performance.now()
  }
}
