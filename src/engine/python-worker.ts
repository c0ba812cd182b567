/** One Python worker as the server sees it: it is given a batch, answers unit by unit, and is watched while it works. */
import type { Socket } from 'node:net'
import { type EngineLossReason, type EngineOutcome, parseOutcome, type WorkKind } from './engine.ts'
import { createFrameDecoder, encodeFrame } from './frames.ts'
import { ProcessDeadline } from './process-deadline.ts'

/** What a worker may take to build a dataset before it begins with the first unit. */
const PREPARE_DEADLINE_MS = 10_000

/** Units of one request that a worker works through in order. */
export interface PythonWorkerRequest {
  /** Everything of the request but its units. */
  request: Record<string, unknown>
  work: WorkKind
  /** Whose work it is: a task may not take all Python workers. */
  task: string
  /** What one unit may take of the worker's own time, counted from when the worker begins it. */
  deadlineMs: number
  /** It runs programs that could change the process for what comes after: the worker does nothing else after it. */
  isLast?: boolean
  /** Whether a value can be the result of a unit. A worker that sends another one is killed, as a program may have changed it. */
  isExpected: (value: unknown) => boolean
  units: { unit: unknown; settle: (outcome: EngineOutcome) => void }[]
}

export type WorkLine = WorkKind | `${WorkKind} of programs`

/** Requests of one line start in their order. Each program costs a fork, so items that need none wait in another line. */
export function getWorkLine({ work, isLast }: Pick<PythonWorkerRequest, 'work' | 'isLast'>): WorkLine {
  return isLast ? `${work} of programs` : work
}

interface PythonWorkerEvents {
  /** All units are settled; the worker is free. */
  onIdle(worker: PythonWorker): void
  /** All units are settled, and the worker must do nothing more: kill it. */
  onSpent(worker: PythonWorker): void
  /** The unit in flight has exceeded its deadline: kill this worker. */
  onDeadlineExceeded(worker: PythonWorker): void
  /** Whether it ended alone, rather than with the engine. */
  hasExitedAlone(worker: PythonWorker): Promise<boolean>
  /** The worker exited; `rest` holds the units that it had not started. */
  onExit(worker: PythonWorker, rest: PythonWorkerRequest | undefined): void
}

/** idle → busy (one unit after another) → idle …, or gone. Only the unit in flight when it exits loses its verdict. */
export class PythonWorker {
  readonly pid: number
  readonly #socket: Socket
  readonly #events: PythonWorkerEvents
  #currentRequest: PythonWorkerRequest | undefined
  #nextUnit = 0
  #hasStarted = false
  readonly #deadline: ProcessDeadline
  #timedOut: 'timeout' | 'starved' | undefined
  #hasEndedWithEngine = false
  #retired = false
  busySince = 0
  idleSince = 0

  constructor(pid: number, socket: Socket, events: PythonWorkerEvents) {
    this.pid = pid
    this.#socket = socket
    this.#events = events
    this.#deadline = new ProcessDeadline(pid, (isStarved) => {
      this.#timedOut = isStarved ? 'starved' : 'timeout'
      events.onDeadlineExceeded(this)
    })
    socket.on(
      'data',
      createFrameDecoder(
        (message) => this.#handleMessage(message),
        () => this.#giveUp(),
      ),
    )
    socket.once('close', () => void this.#handleClose())
  }

  get task(): string | undefined {
    return this.#currentRequest?.task
  }

  /** Where its request waited; undefined if it is idle. */
  get line(): WorkLine | undefined {
    return this.#currentRequest && getWorkLine(this.#currentRequest)
  }

  assign(batch: PythonWorkerRequest): void {
    this.#currentRequest = batch
    this.#nextUnit = 0
    this.#hasStarted = false
    this.busySince = performance.now()
    this.#deadline.start(PREPARE_DEADLINE_MS)
    this.#socket.write(
      encodeFrame({ ...batch.request, deadline_ms: batch.deadlineMs, units: batch.units.map(({ unit }) => unit) }),
    )
  }

  /** What ended it, once it is gone; undefined if it was let go. */
  get exitCause(): 'timeout' | 'crashed' | undefined {
    if (this.#timedOut) return 'timeout'
    return this.#retired ? undefined : 'crashed'
  }

  #describeLoss({ deadlineMs }: PythonWorkerRequest): { reason: EngineLossReason; detail: string } {
    if (this.#timedOut) return { reason: this.#timedOut, detail: describeTimeout(this.#timedOut, deadlineMs) }
    if (this.#hasEndedWithEngine) return { reason: 'unavailable', detail: 'the engine has ended' }
    return { reason: 'crashed', detail: 'the Python worker exited while it processed this' }
  }

  /** Lets an idle worker end. */
  retire(): void {
    this.#retired = true
    this.#socket.end()
  }

  #handleMessage(message: Record<string, unknown>): void {
    const batch = this.#currentRequest
    if (!batch || this.#timedOut) return
    if ('started' in message) {
      if (this.#hasStarted) {
        this.#giveUp() // a second one would prolong the deadline
        return
      }
      this.#hasStarted = true
      this.#deadline.start(batch.deadlineMs)
      return
    }
    const outcome = parseOutcome(message)
    if (outcome.kind === 'value' && !batch.isExpected(outcome.value)) {
      this.#giveUp()
      return
    }
    batch.units[this.#nextUnit++]?.settle(outcome)
    if (this.#nextUnit < batch.units.length) {
      this.#deadline.start(batch.deadlineMs)
      return
    }
    this.#deadline.stop()
    this.#currentRequest = undefined // what it may still send belongs to nothing
    if (batch.isLast) {
      this.#retired = true
      this.#events.onSpent(this)
    } else this.#events.onIdle(this)
  }

  /** It does not say what worker.py says, so nothing that it says counts. */
  #giveUp(): void {
    this.#events.onSpent(this)
    this.#socket.destroy()
  }

  async #handleClose(): Promise<void> {
    this.#deadline.stop()
    const batch = this.#currentRequest
    if (batch && !this.#timedOut) this.#hasEndedWithEngine = !(await this.#events.hasExitedAlone(this))
    this.#currentRequest = undefined
    if (batch) batch.units[this.#nextUnit]?.settle({ kind: 'lost', ...this.#describeLoss(batch) })
    const units = batch?.units.slice(this.#nextUnit + 1) ?? []
    this.#events.onExit(this, batch && units.length > 0 ? { ...batch, units } : undefined)
  }
}

function describeTimeout(reason: 'timeout' | 'starved', deadlineMs: number): string {
  const detail = `no result within ${deadlineMs} ms`
  return reason === 'timeout' ? detail : `${detail} of a processor, because the machine is overloaded`
}
