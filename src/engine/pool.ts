/** The hosts of one kind and the batches that wait for them. */
import type { Socket } from 'node:net'
import type { EndCause } from './engine.ts'
import { type Batch, Host } from './host.ts'
import type { Outcome } from './outcome.ts'
import type { HostKind, Zygote } from './zygote.ts'

/** A host that is busy for longer leaves the pool's count, and a fork takes its place. */
const SLOW_MS = 30
/** The bound of that: hosts for each one that was asked for. Half of them is more than two hanging answers for each core. */
const MOST_PER_HOST = 8
const QUEUED_UNITS_MAX = 50_000
const IDLE_MS = 5_000
/** What ended a host as it began (no memory, no room on the disk) would end the next one at once. */
const UNBORN_MS = 1_000

/**
 * A batch goes to an idle host at once, else it waits in line. A batch of a task that already has half of all possible
 * hosts at work lets others pass. A stuck host is killed; its other units go to the head of the line.
 */
export class Pool {
  readonly #kind: HostKind
  readonly #size: number
  readonly #zygote: () => Zygote | undefined
  readonly #hosts = new Set<Host>()
  readonly #idle: Host[] = []
  #waiting: Batch[] = []
  #waitingUnits = 0
  #forking = 0
  #ticker: NodeJS.Timeout | undefined
  kills = 0
  readonly ends: Record<EndCause, number> = { timeout: 0, crashed: 0, engine_ended: 0 }

  constructor(kind: HostKind, size: number, zygote: () => Zygote | undefined) {
    this.#kind = kind
    this.#size = size
    this.#zygote = zygote
  }

  get hosts(): number {
    return this.#hosts.size
  }

  /** One outcome for each unit, in order; never rejects. */
  async run(batch: Omit<Batch, 'units'>, units: unknown[]): Promise<Outcome[]> {
    if (!this.#zygote()) return units.map(() => unavailable('the engine is down'))
    if (this.#waitingUnits + units.length > QUEUED_UNITS_MAX)
      return units.map(() => unavailable('too much work is waiting'))
    const outcomes: Promise<Outcome>[] = []
    const own = units.map((unit) => {
      const { promise, resolve } = Promise.withResolvers<Outcome>()
      outcomes.push(promise)
      return { unit, settle: resolve }
    })
    if (own.length > 0) this.#enqueue({ ...batch, units: own })
    return Promise.all(outcomes)
  }

  /** Forks the pool's hosts; called when the zygote is ready. */
  fill(): void {
    this.#forking = 0
    for (let k = this.#hosts.size; k < this.#size; k++) this.#fork()
  }

  adopt(pid: number, socket: Socket): void {
    this.#forking = Math.max(0, this.#forking - 1)
    const host = new Host(pid, socket, {
      onFree: (free) => this.#free(free),
      onStuck: (stuck) => {
        this.kills++
        this.#zygote()?.kill(stuck.pid)
      },
      onGone: (gone, rest) => this.#gone(gone, rest),
    })
    this.#hosts.add(host)
    this.#free(host)
  }

  /** A fork came to nothing: another takes its place after a pause. Where there is no host, nobody waits that long. */
  unborn(reason: string): void {
    if (this.#hosts.size === 0) this.fail(reason)
    setTimeout(() => {
      this.#forking = Math.max(0, this.#forking - 1)
      if (this.#hosts.size + this.#forking < this.#size) this.#fork()
    }, UNBORN_MS).unref()
  }

  /** Settles all that waits: the engine is down. */
  fail(detail: string): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingUnits = 0
    for (const batch of waiting) for (const { settle } of batch.units) settle(unavailable(detail))
  }

  close(): void {
    clearInterval(this.#ticker)
    this.fail('the server is closing')
  }

  #enqueue(batch: Batch): void {
    this.#waiting.push(batch)
    this.#waitingUnits += batch.units.length
    this.#dispatch()
  }

  #dispatch(): void {
    while (this.#idle.length > 0 && this.#waiting.length > 0) {
      const at = this.#waiting.findIndex((batch) => this.#mayRun(batch.task))
      const batch = at < 0 ? undefined : this.#waiting.splice(at, 1)[0]
      if (!batch) break
      this.#waitingUnits -= batch.units.length
      this.#idle.pop()?.give(batch)
    }
    if (this.#waiting.length > 0) this.#ticker ??= setInterval(() => this.#tick(), SLOW_MS / 2)
  }

  #mayRun(task: string): boolean {
    let running = 0
    for (const host of this.#hosts) if (host.task === task) running++
    return running < Math.max(1, (this.#size * MOST_PER_HOST) / 2)
  }

  /** While something waits: slow hosts are made up for by forks. */
  #tick(): void {
    if (this.#waiting.length === 0) {
      clearInterval(this.#ticker)
      this.#ticker = undefined
      return
    }
    const now = performance.now()
    const slow = [...this.#hosts].filter((host) => host.task !== undefined && now - host.busySince > SLOW_MS).length
    // Who stands behind a slow host may be slow as well: they are all let through at once, not two by two.
    const wanted = Math.min(this.#size + slow + Math.min(slow, 1) * this.#waiting.length, this.#size * MOST_PER_HOST)
    for (let k = this.#hosts.size + this.#forking; k < wanted; k++) this.#fork()
  }

  #fork(): void {
    const zygote = this.#zygote()
    if (!zygote) return
    this.#forking++
    zygote.fork(this.#kind)
  }

  #free(host: Host): void {
    this.#idle.push(host)
    this.#dispatch()
    if (this.#hosts.size > this.#size) setTimeout(() => this.#retire(host), IDLE_MS).unref()
  }

  #retire(host: Host): void {
    const at = this.#idle.indexOf(host)
    if (at < 0 || this.#hosts.size <= this.#size) return
    this.#idle.splice(at, 1)
    host.dismiss()
  }

  #gone(host: Host, rest: Batch | undefined): void {
    this.#hosts.delete(host)
    const cause = this.#zygote() ? host.endCause : 'engine_ended'
    if (cause) this.ends[cause]++
    const at = this.#idle.indexOf(host)
    if (at >= 0) this.#idle.splice(at, 1)
    if (rest) {
      this.#waiting.unshift(rest)
      this.#waitingUnits += rest.units.length
    }
    if (this.#hosts.size + this.#forking < this.#size) this.#fork()
    if (!this.#zygote()) this.fail('the engine has ended')
    else this.#dispatch()
  }
}

function unavailable(detail: string): Outcome {
  return { kind: 'lost', reason: 'unavailable', detail }
}
