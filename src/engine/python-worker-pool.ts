/** The Python workers of one kind and the batches that wait for them. */
import type { Socket } from 'node:net'
import type { EngineOutcome, PythonWorkerExitCause, PythonWorkerKind } from './engine.ts'
import { FairQueue } from './fair-queue.ts'
import { PythonWorker, type PythonWorkerRequest, type WorkLine } from './python-worker.ts'
import type { Zygote } from './zygote.ts'

/** A worker that is busy for longer leaves the pool's count, and a fork takes its place. */
const SLOW_WORKER_THRESHOLD_MS = 30
/** Most Python workers that a pool starts for each one that was asked for. Half of them is more than two hanging answers for each core. */
const MAX_GROWTH_FACTOR = 8
/** The same limit for a worker on its last request. A fork has already replaced it; after this time, its successors may start. */
const SLOW_LAST_REQUEST_THRESHOLD_MS = 500
const MAX_QUEUED_UNITS = 50_000
const IDLE_RETIREMENT_MS = 5_000
/** What ended a worker as it began (no memory, no room on the disk) would end the next one at once. */
const FORK_RETRY_DELAY_MS = 1_000

/**
 * A batch goes to an idle worker at once, else it waits in line. A batch of a task that already has half of all possible
 * Python workers at work lets others pass. A stuck worker is killed; its other units go to the head of the line.
 */
export interface PythonWorkerPoolOptions {
  /** Workers while batches wait, unless some are slow. One of them stays when there is nothing to do. */
  size: number
  /** None of them stays. */
  isOnDemand?: boolean
  /** Does not start more workers in place of slow ones. */
  isFixed?: boolean
}

export class PythonWorkerPool {
  readonly #kind: PythonWorkerKind
  readonly #size: number
  readonly #isOnDemand: boolean
  readonly #isFixed: boolean
  readonly #zygote: () => Zygote | undefined
  readonly #workers = new Set<PythonWorker>()
  /** They have their last request or have done it, and others were forked in their place; or they were idle and are let go. */
  readonly #endingWorkers = new Set<PythonWorker>()
  readonly #idleWorkers: PythonWorker[] = []
  readonly #queue = new FairQueue()
  #pendingForks = 0
  #growthTimer: NodeJS.Timeout | undefined
  kills = 0
  readonly exits: Record<PythonWorkerExitCause, number> = { timeout: 0, crashed: 0, engine_exited: 0 }

  constructor(
    kind: PythonWorkerKind,
    { size, isOnDemand = false, isFixed = false }: PythonWorkerPoolOptions,
    zygote: () => Zygote | undefined,
  ) {
    this.#kind = kind
    this.#size = size
    this.#isOnDemand = isOnDemand
    this.#isFixed = isFixed
    this.#zygote = zygote
  }

  get workerCount(): number {
    return this.#workers.size + this.#endingWorkers.size
  }

  /** One outcome for each unit, in order; never rejects. */
  run(batch: Omit<PythonWorkerRequest, 'units'>, units: unknown[]): Promise<EngineOutcome[]> {
    return Promise.all(this.runEach(batch, units))
  }

  /** The same, each as soon as it is there. */
  runEach(batch: Omit<PythonWorkerRequest, 'units'>, units: unknown[]): Promise<EngineOutcome>[] {
    const failAll = (detail: string) => units.map(async () => unavailableOutcome(detail))
    if (!this.#zygote()) return failAll('the engine is down')
    if (this.#queue.units + units.length > MAX_QUEUED_UNITS) return failAll('too much work is waiting')
    const outcomes: Promise<EngineOutcome>[] = []
    const own = units.map((unit) => {
      const { promise, resolve } = Promise.withResolvers<EngineOutcome>()
      outcomes.push(promise)
      return { unit, settle: resolve }
    })
    if (own.length > 0) this.#enqueue({ ...batch, units: own })
    return outcomes
  }

  /** Forks the pool's Python workers; called when the zygote is ready. */
  forkAll(): void {
    this.#pendingForks = 0
    this.#forkMissing()
  }

  addWorker(pid: number, socket: Socket): void {
    this.#pendingForks = Math.max(0, this.#pendingForks - 1)
    const worker = new PythonWorker(pid, socket, {
      onIdle: (free) => this.#handleIdle(free),
      onSpent: (spent) => {
        this.#zygote()?.kill(spent.pid)
        this.#dispatch()
      },
      onDeadlineExceeded: (stuck) => {
        this.kills++
        this.#zygote()?.kill(stuck.pid)
      },
      hasExitedAlone: async ({ pid: gone }) => (await this.#zygote()?.hasExitedAlone(gone)) ?? false,
      onExit: (gone, rest) => this.#handleExit(gone, rest),
    })
    this.#workers.add(worker)
    this.#handleIdle(worker)
  }

  /** A fork failed: retries after a pause. Without any worker, pending requests fail sooner. */
  handleForkFailure(reason: string): void {
    if (this.#workers.size === 0) this.failQueued(reason)
    setTimeout(() => {
      this.#pendingForks = Math.max(0, this.#pendingForks - 1)
      this.#forkMissing()
    }, FORK_RETRY_DELAY_MS).unref()
  }

  /** Settles all that waits: the engine is down. */
  failQueued(detail: string): void {
    for (const batch of this.#queue.clear()) for (const { settle } of batch.units) settle(unavailableOutcome(detail))
  }

  close(): void {
    clearInterval(this.#growthTimer)
    this.failQueued('the server is closing')
  }

  #enqueue(batch: PythonWorkerRequest): void {
    this.#queue.push(batch)
    this.#dispatch()
  }

  #dispatch(): void {
    while (this.#idleWorkers.length > 0) {
      const batch = this.#queue.take(
        (line) => this.#countWorkers(line),
        (candidate) => this.#isBelowTaskLimit(candidate),
      )
      if (!batch) break
      const worker = this.#idleWorkers.pop()
      worker?.assign(batch)
      if (worker && batch.isLast) this.#replace(worker)
    }
    if (this.#queue.count === 0) return
    this.#forkMissing()
    if (!this.#isFixed) this.#growthTimer ??= setInterval(() => this.#growIfSlow(), SLOW_WORKER_THRESHOLD_MS / 2)
  }

  #countWorkers(line: WorkLine): number {
    let count = 0
    for (const worker of this.#workers) if (worker.line === line) count++
    for (const worker of this.#endingWorkers) if (worker.line === line) count++
    return count
  }

  /** Workers that stay when there is nothing to do. */
  get #restingSize(): number {
    return this.#isOnDemand ? 0 : Math.min(this.#size, 1)
  }

  #forkMissing(): void {
    const wanted = Math.max(this.#restingSize, Math.min(this.#size, this.#workers.size + this.#queue.count))
    for (let k = this.#workers.size + this.#pendingForks; k < wanted; k++) this.#fork()
  }

  #isBelowTaskLimit({ task, isLast }: PythonWorkerRequest): boolean {
    const running = [...(isLast ? this.#endingWorkers : this.#workers)].filter((worker) => worker.task === task)
    if (running.length >= Math.max(1, (this.#size * MAX_GROWTH_FACTOR) / 2)) return false
    if (!isLast) return true
    const quickSince = performance.now() - SLOW_LAST_REQUEST_THRESHOLD_MS
    const quick = running.filter(({ busySince }) => busySince > quickSince)
    return quick.length < Math.max(1, this.#size / 2) // each costs a fork, and other tasks must not wait for that
  }

  /** The next one is forked while this one does its last request. */
  #replace(worker: PythonWorker): void {
    this.#workers.delete(worker)
    this.#endingWorkers.add(worker)
    this.#forkMissing()
  }

  /** While something waits: slow Python workers are made up for by forks. */
  #growIfSlow(): void {
    const waiting = this.#queue.count
    if (waiting === 0) {
      clearInterval(this.#growthTimer)
      this.#growthTimer = undefined
      return
    }
    const now = performance.now()
    const slow = [...this.#workers].filter(
      ({ line, busySince }) => line !== undefined && now - busySince > SLOW_WORKER_THRESHOLD_MS,
    ).length
    // Who stands behind a slow worker may be slow as well: they are all let through at once, not two by two.
    const wanted = Math.min(this.#size + slow + Math.min(slow, 1) * waiting, this.#size * MAX_GROWTH_FACTOR)
    for (let k = this.#workers.size + this.#pendingForks; k < wanted; k++) this.#fork()
    this.#dispatch() // a last request may have become slow
  }

  #fork(): void {
    const zygote = this.#zygote()
    if (!zygote) return
    this.#pendingForks++
    zygote.fork(this.#kind)
  }

  #handleIdle(worker: PythonWorker): void {
    worker.idleSince = performance.now()
    this.#idleWorkers.push(worker)
    this.#dispatch()
    if (this.#workers.size > this.#restingSize) setTimeout(() => this.#retireIfIdle(worker), IDLE_RETIREMENT_MS).unref()
  }

  #retireIfIdle(worker: PythonWorker): void {
    const at = this.#idleWorkers.indexOf(worker)
    if (at < 0 || this.#workers.size <= this.#restingSize) return
    if (performance.now() - worker.idleSince < IDLE_RETIREMENT_MS - 1) return // it has worked since; the next timer follows
    this.#idleWorkers.splice(at, 1)
    this.#workers.delete(worker) // else those that become idle at the same time would all retire
    this.#endingWorkers.add(worker)
    worker.retire()
  }

  #handleExit(worker: PythonWorker, rest: PythonWorkerRequest | undefined): void {
    this.#workers.delete(worker)
    this.#endingWorkers.delete(worker)
    const cause = this.#zygote() ? worker.exitCause : 'engine_exited'
    if (cause) this.exits[cause]++
    const at = this.#idleWorkers.indexOf(worker)
    if (at >= 0) this.#idleWorkers.splice(at, 1)
    if (rest) this.#queue.pushFirst(rest)
    this.#forkMissing()
    if (!this.#zygote()) this.failQueued('the engine has ended')
    else this.#dispatch()
  }
}

function unavailableOutcome(detail: string): EngineOutcome {
  return { kind: 'lost', reason: 'unavailable', detail }
}
