/** The threads beside the event loop, and the answers that wait for them. */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { UnscoredCode } from '../contract/verdict.ts'
import type { RuleSpec } from './scoring-rule.ts'
import type { ScorerResult } from './verdict.ts'

const THREAD_SCRIPT = join(import.meta.dirname, 'scorer-thread.ts')
/** Each at most 64 Ki code points: what may wait is bounded by what the bodies of requests in hand may hold. */
const MAX_PENDING_ANSWERS = 20_000
const THREAD_MEMORY_LIMIT_MB = 256

interface PendingAnswer {
  spec: RuleSpec
  answer: string
  resolve: (scoring: ScorerResult) => void
}

/** starting → idle ⇄ busy, or gone: past its deadline, out of memory, closed. The answer in hand loses its verdict. */
interface ScorerThread {
  worker: Worker
  current: PendingAnswer | undefined
  timer: NodeJS.Timeout | undefined
  timedOut: boolean
}

/** Threads are started when work comes, up to `most`, and stay. */
export class ScorerThreadPool {
  readonly #maxThreads: number
  readonly #deadlineMs: number
  readonly #threads = new Set<ScorerThread>()
  readonly #idle: ScorerThread[] = []
  readonly #pending: PendingAnswer[] = []
  #closed = false

  constructor(most: number, deadlineMs: number) {
    this.#maxThreads = most
    this.#deadlineMs = deadlineMs
  }

  /** Never rejects. */
  async score(parts: RuleSpec, answer: string): Promise<ScorerResult> {
    if (this.#closed) return failedResult('engine_unavailable', 'the server is closing')
    if (this.#pending.length >= MAX_PENDING_ANSWERS)
      return failedResult('engine_unavailable', 'too much work is waiting')
    const { promise, resolve } = Promise.withResolvers<ScorerResult>()
    this.#pending.push({ spec: parts, answer, resolve: resolve })
    this.#dispatch()
    return promise
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { resolve: settle } of this.#pending.splice(0))
      settle(failedResult('engine_unavailable', 'the server is closing'))
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()))
  }

  #dispatch(): void {
    while (this.#pending.length > 0) {
      const thread = this.#idle.pop()
      if (!thread) break
      const work = this.#pending.shift()
      if (work) this.#assign(thread, work)
    }
    const starting = [...this.#threads].filter(({ current: work }) => !work).length - this.#idle.length
    if (this.#pending.length > starting && this.#threads.size < this.#maxThreads) this.#startThread()
  }

  #startThread(): void {
    const worker = new Worker(THREAD_SCRIPT, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_LIMIT_MB },
    })
    const thread: ScorerThread = { worker, current: undefined, timer: undefined, timedOut: false }
    this.#threads.add(thread)
    worker.unref() // a process that only waits for it has nothing left to do
    let why = failedResult('scorer_crashed', 'the thread ended while it worked on this')
    worker.on('message', (said: 'ready' | ScorerResult) => this.#handleMessage(thread, said))
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const memory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      why = failedResult(memory ? 'scorer_out_of_memory' : 'scorer_crashed', error.message)
    })
    worker.once('exit', () => {
      const { current: work, timedOut } = thread
      this.#threads.delete(thread)
      const at = this.#idle.indexOf(thread)
      if (at >= 0) this.#idle.splice(at, 1)
      clearTimeout(thread.timer)
      work?.resolve(timedOut ? failedResult('scorer_timeout', `no result within ${this.#deadlineMs} ms`) : why)
      if (!work && !timedOut && !this.#closed) return this.#failPending(why)
      this.#dispatch()
    })
  }

  #assign(thread: ScorerThread, work: PendingAnswer): void {
    thread.current = work
    thread.timer = setTimeout(() => {
      thread.timedOut = true
      void thread.worker.terminate()
    }, this.#deadlineMs)
    thread.worker.postMessage({ parts: work.spec, answer: work.answer })
  }

  #handleMessage(thread: ScorerThread, said: 'ready' | ScorerResult): void {
    clearTimeout(thread.timer)
    if (said !== 'ready') thread.current?.resolve(said)
    thread.current = undefined
    if (thread.timedOut) return // its result came while it was being ended: it takes no more
    this.#idle.push(thread)
    this.#dispatch()
  }

  /** One that ended without work would end again: what waits is not to wait for ever. */
  #failPending(why: ScorerResult): void {
    if (this.#threads.size === 0) for (const { resolve: settle } of this.#pending.splice(0)) settle(why)
  }
}

function failedResult(code: UnscoredCode, detail: string): ScorerResult {
  return { kind: 'failed', code, detail }
}
