/** The threads beside the event loop, and the answers that wait for them. */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Scoring } from '../scoring/verdicts.ts'
import type { UnscoredCode } from '../words/verdict.ts'
import type { RuleParts } from './rule.ts'

const SCRIPT = join(import.meta.dirname, 'scoring-thread.ts')
/** Each at most 64 Ki code points: what may wait is bounded by what the bodies of requests in hand may hold. */
const WAITING_MAX = 20_000
const MEMORY_MB = 256

interface Work {
  parts: RuleParts
  answer: string
  settle: (scoring: Scoring) => void
}

/** starting → idle ⇄ busy, or gone: past its deadline, out of memory, closed. The answer in hand loses its verdict. */
interface Thread {
  worker: Worker
  work: Work | undefined
  timer: NodeJS.Timeout | undefined
  timedOut: boolean
}

/** Threads are started when work comes, up to `most`, and stay. */
export class ScoringThreads {
  readonly #most: number
  readonly #deadlineMs: number
  readonly #threads = new Set<Thread>()
  readonly #idle: Thread[] = []
  readonly #waiting: Work[] = []
  #closed = false

  constructor(most: number, deadlineMs: number) {
    this.#most = most
    this.#deadlineMs = deadlineMs
  }

  /** Never rejects. */
  async score(parts: RuleParts, answer: string): Promise<Scoring> {
    if (this.#closed) return failed('engine_unavailable', 'the server is closing')
    if (this.#waiting.length >= WAITING_MAX) return failed('engine_unavailable', 'too much work is waiting')
    const { promise, resolve } = Promise.withResolvers<Scoring>()
    this.#waiting.push({ parts, answer, settle: resolve })
    this.#dispatch()
    return promise
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { settle } of this.#waiting.splice(0)) settle(failed('engine_unavailable', 'the server is closing'))
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()))
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#idle.pop()
      if (!thread) break
      const work = this.#waiting.shift()
      if (work) this.#give(thread, work)
    }
    const starting = [...this.#threads].filter(({ work }) => !work).length - this.#idle.length
    if (this.#waiting.length > starting && this.#threads.size < this.#most) this.#start()
  }

  #start(): void {
    const worker = new Worker(SCRIPT, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB } })
    const thread: Thread = { worker, work: undefined, timer: undefined, timedOut: false }
    this.#threads.add(thread)
    worker.unref() // a process that only waits for it has nothing left to do
    let why = failed('scorer_crashed', 'the thread ended while it worked on this')
    worker.on('message', (said: 'ready' | Scoring) => this.#free(thread, said))
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const memory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      why = failed(memory ? 'scorer_out_of_memory' : 'scorer_crashed', error.message)
    })
    worker.once('exit', () => {
      const { work, timedOut } = thread
      this.#threads.delete(thread)
      const at = this.#idle.indexOf(thread)
      if (at >= 0) this.#idle.splice(at, 1)
      clearTimeout(thread.timer)
      work?.settle(timedOut ? failed('scorer_timeout', `no result within ${this.#deadlineMs} ms`) : why)
      if (!work && !timedOut && !this.#closed) return this.#giveUp(why)
      this.#dispatch()
    })
  }

  #give(thread: Thread, work: Work): void {
    thread.work = work
    thread.timer = setTimeout(() => {
      thread.timedOut = true
      void thread.worker.terminate()
    }, this.#deadlineMs)
    thread.worker.postMessage({ parts: work.parts, answer: work.answer })
  }

  #free(thread: Thread, said: 'ready' | Scoring): void {
    clearTimeout(thread.timer)
    if (said !== 'ready') thread.work?.settle(said)
    thread.work = undefined
    if (thread.timedOut) return // its result came while it was being ended: it takes no more
    this.#idle.push(thread)
    this.#dispatch()
  }

  /** One that ended without work would end again: what waits is not to wait for ever. */
  #giveUp(why: Scoring): void {
    if (this.#threads.size === 0) for (const { settle } of this.#waiting.splice(0)) settle(why)
  }
}

function failed(code: UnscoredCode, detail: string): Scoring {
  return { kind: 'failed', code, detail }
}
