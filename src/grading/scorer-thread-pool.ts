/**
 * Scores long answers, and answers of tasks with a scorer of their own, on threads: Piscina, with a queue in front of it. Piscina's own queue has three problems: waiting
 * would count toward the deadline, `maxQueue` does not apply to abortable tasks, and after an abort Piscina starts no new
 * thread for the waiting tasks. So the pool passes a task to Piscina only when a thread is free.
 */
import { setImmediate as afterPendingMessages } from 'node:timers/promises'
import type { UnscoredCode } from '@reasoning-gym-server/contract/verdict'
import type { Violation } from '@reasoning-gym-server/scorers/feedback/violation'
import { Piscina } from 'piscina'
import { createCompileCacheEnv, getModulePath } from '../platform/installation.ts'
import { WeightedSemaphore } from '../platform/weighted-semaphore.ts'
import type { ExplainTask, ScorerTask } from './scorer-thread.ts'
import type { ScorerResult } from './verdict.ts'

const THREAD_SCRIPT = getModulePath(import.meta.dirname, 'scorer-thread')
/** An answer has at most 64 Ki code points, so the limit on request bodies in flight also limits this memory. */
const MAX_PENDING_ANSWERS = 20_000
const THREAD_MEMORY_LIMIT_MB = 256
/** Lower priority than the event loop, higher than the Python workers, where one answer may take seconds. */
const THREAD_NICENESS = 6

interface RunningTask {
  started(): void
  fail(error: unknown): void
}

/** Starts threads on demand, up to `maxThreads`, and keeps them. */
export class ScorerThreadPool {
  readonly #deadlineMs: number
  readonly #freeThreads: WeightedSemaphore
  readonly #pool: Piscina<ScorerTask | ExplainTask, ScorerResult | Violation | undefined>
  readonly #running = new Map<number, RunningTask>()
  #nextId = 0
  #closed = false

  constructor(maxThreads: number, deadlineMs: number) {
    this.#deadlineMs = deadlineMs
    this.#freeThreads = new WeightedSemaphore(maxThreads)
    this.#pool = new Piscina({
      filename: THREAD_SCRIPT,
      minThreads: 0,
      maxThreads,
      idleTimeout: Number.POSITIVE_INFINITY,
      env: createCompileCacheEnv(), // a thread starts in half the time
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_LIMIT_MB },
      niceIncrement: THREAD_NICENESS,
    })
    this.#pool.on('message', (id: number) => this.#running.get(id)?.started())
    // A thread failed to start. Fail the running tasks, which would otherwise wait for another thread.
    this.#pool.on('error', (error) => {
      for (const running of this.#running.values()) running.fail(error)
    })
  }

  /** Never rejects. */
  async score(spec: ScorerTask['spec'], answer: string): Promise<ScorerResult> {
    if (this.#freeThreads.waitingCount >= MAX_PENDING_ANSWERS)
      return createFailure('engine_unavailable', 'the scoring queue is full')
    return this.#freeThreads.withPermits(
      1,
      async () =>
        this.#closed
          ? createFailure('engine_unavailable', 'the server is closing')
          : this.#runTask('default', spec, answer).then((result) => result as ScorerResult, toFailure), // as that function returns
    )
  }

  /** What is wrong with an answer; undefined if the question does not tell, or not in time. Never rejects. */
  async explain(spec: ExplainTask['spec'], answer: string): Promise<Violation | undefined> {
    if (this.#freeThreads.waitingCount >= MAX_PENDING_ANSWERS) return undefined
    return this.#freeThreads.withPermits(1, async () =>
      this.#closed
        ? undefined
        : this.#runTask('explainAnswer', spec, answer).then(
            (result) => result as Violation | undefined, // as that function returns
            () => undefined,
          ),
    )
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#pool.destroy()
  }

  async #runTask(
    name: 'default' | 'explainAnswer',
    spec: ScorerTask['spec'] | ExplainTask['spec'],
    answer: string,
  ): Promise<ScorerResult | Violation | undefined> {
    const id = this.#nextId++
    const abort = new AbortController()
    let timer: NodeJS.Timeout | undefined
    const abortAtDeadline = async () => {
      await afterPendingMessages() // the result may already be there if the event loop was busy
      abort.abort(new DeadlineError(`no result within ${this.#deadlineMs} ms`))
    }
    this.#running.set(id, {
      started: () => {
        timer = setTimeout(() => void abortAtDeadline(), this.#deadlineMs)
      },
      fail: (error) => abort.abort(error),
    })
    try {
      return await this.#pool.run({ id, spec, answer } as ScorerTask | ExplainTask, { name, signal: abort.signal })
    } finally {
      clearTimeout(timer)
      this.#running.delete(id)
    }
  }
}

class DeadlineError extends Error {}

function toFailure(error: unknown): ScorerResult {
  const { message, code, cause } = error as NodeJS.ErrnoException // Piscina rejects with this shape
  if (cause instanceof DeadlineError) return createFailure('scorer_timeout', cause.message)
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return createFailure('scorer_out_of_memory', message)
  return createFailure('scorer_crashed', message)
}

function createFailure(code: UnscoredCode, detail: string): ScorerResult {
  return { kind: 'failed', code, detail }
}
