/**
 * Confirms in Redis which samples count: those whose responses were sent. For each run, one call at a time confirms the
 * samples that arrived since the previous call, and failed calls are retried. The sweep confirms the samples of a process
 * that dies.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { pause } from '../../../platform/retry.ts'
import type { Runs } from '../../runs/runs.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import type { ConfirmRequest, OpenGroupRepository, OpenGroupRun, RecordedSample } from './repository.ts'

type RunRef = Pick<OpenGroupRun, 'name' | 'epoch'>
type SampleRef = Pick<RecordedSample, 'item' | 'id' | 'call'>

interface ConfirmationQueue {
  run: RunRef
  waiting: { sample: SampleRef; isDelivered: boolean }[]
  flushing: Promise<void> | undefined
}

interface SampleConfirmationDeps {
  repository: OpenGroupRepository
  runs: Pick<Runs, 'get'>
  /** Called with the IDs of the groups that became full. */
  onClosed: (run: ResolvedRun, ids: string[]) => void
  onError: (error: unknown) => void
}

/** Samples that one script confirms, which takes Redis about a millisecond. */
const MAX_SAMPLES_PER_CALL = 200
/**
 * Limit on the waiting samples of one run while Redis is unavailable. The sweep counts samples beyond it, like those of
 * a dead process.
 */
const MAX_WAITING_SAMPLES = 100_000
const RETRY_MS = 500
/** Part of the time that a process has for its shutdown. */
const CLOSE_TIMEOUT_MS = 2000

export class SampleConfirmation {
  readonly #deps: SampleConfirmationDeps
  readonly #queues = new Map<string, ConfirmationQueue>()
  readonly #closing = new AbortController()

  constructor(deps: SampleConfirmationDeps) {
    this.#deps = deps
  }

  add({ name, epoch }: RunRef, samples: SampleRef[], isDelivered: boolean): void {
    const key = `${name}/${epoch}`
    const queue = this.#queues.get(key) ?? { run: { name, epoch }, waiting: [], flushing: undefined }
    this.#queues.set(key, queue)
    const room = MAX_WAITING_SAMPLES - queue.waiting.length
    for (const sample of samples.slice(0, room)) queue.waiting.push({ sample, isDelivered })
    queue.flushing ??= this.#flush(key, queue)
  }

  /** Confirms as many waiting samples as possible before the timeout. */
  async close(): Promise<void> {
    const flushed = Promise.all([...this.#queues.values()].flatMap(({ flushing }) => flushing ?? []))
    await Promise.race([flushed, sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
    this.#closing.abort()
  }

  /** Never rejects. */
  async #flush(key: string, queue: ConfirmationQueue): Promise<void> {
    while (queue.waiting.length > 0 && !this.#closing.signal.aborted) {
      const batch = queue.waiting.slice(0, MAX_SAMPLES_PER_CALL)
      const delivered = batch.filter(({ isDelivered }) => isDelivered).map(({ sample }) => sample)
      const undelivered = batch.filter(({ isDelivered }) => !isDelivered).map(({ sample }) => sample)
      try {
        await this.#confirm(queue.run, { delivered, undelivered })
        queue.waiting.splice(0, batch.length)
      } catch (error) {
        this.#deps.onError(error)
        await pause(RETRY_MS, this.#closing.signal)
      }
    }
    // Runs in the same turn as the last check of the queue: a sample added in between would wait for the run's next
    // sample.
    queue.flushing = undefined
    if (queue.waiting.length === 0) this.#queues.delete(key)
  }

  /** Does nothing if the epoch has ended. */
  async #confirm({ name, epoch }: RunRef, request: ConfirmRequest): Promise<void> {
    const { repository, runs, onClosed } = this.#deps
    let run = await runs.get(name, { epoch, fresh: false })
    while (run) {
      const closed = await repository.confirm(run, request)
      if (closed !== 'run_changed') {
        if (closed.length > 0) onClosed(run, closed)
        return
      }
      run = await runs.get(name, { epoch })
    }
  }
}
