/**
 * Tells Redis which samples count: those whose responses were sent. For each run, one call at a time settles the
 * samples that arrived since the previous call, and failed calls are retried. The sweep settles the samples of a
 * process that dies.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { pause } from '../../../platform/retry.ts'
import type { ResolvedRun } from '../../runs/resolved-run.ts'
import type { Runs } from '../../runs/runs.ts'
import type { OpenGroupRepository, OpenGroupRun, RecordedSample, SettleRequest } from './repository.ts'

type RunRef = Pick<OpenGroupRun, 'name' | 'epoch'>
type SampleRef = Pick<RecordedSample, 'item' | 'id' | 'call'>

interface SettlementQueue {
  run: RunRef
  waiting: { sample: SampleRef; isDelivered: boolean }[]
  flushing: Promise<void> | undefined
}

interface SampleSettlementDeps {
  repository: OpenGroupRepository
  runs: Pick<Runs, 'getCachedInEpoch' | 'getInEpoch'>
  /** Called with the IDs of the groups that became full. */
  onClosed: (run: ResolvedRun, ids: string[]) => void
  onError: (error: unknown) => void
}

/** Samples that one script settles, which takes Redis about a millisecond. */
const MAX_SAMPLES_PER_CALL = 200
/**
 * Limit on the waiting samples of one run while Redis is unavailable. The sweep counts samples beyond it, like those of
 * a dead process.
 */
const MAX_WAITING_SAMPLES = 100_000
const RETRY_MS = 500
/** Part of the time that a process has for its shutdown. */
const CLOSE_TIMEOUT_MS = 2000

export class SampleSettlement {
  readonly #deps: SampleSettlementDeps
  readonly #queues = new Map<string, SettlementQueue>()
  readonly #closing = new AbortController()

  constructor(deps: SampleSettlementDeps) {
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

  /** Settles as many waiting samples as possible before the timeout. */
  async close(): Promise<void> {
    const flushed = Promise.all([...this.#queues.values()].flatMap(({ flushing }) => flushing ?? []))
    await Promise.race([flushed, sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
    this.#closing.abort()
  }

  /** Never rejects. */
  async #flush(key: string, queue: SettlementQueue): Promise<void> {
    while (queue.waiting.length > 0 && !this.#closing.signal.aborted) {
      const batch = queue.waiting.slice(0, MAX_SAMPLES_PER_CALL)
      const delivered = batch.filter(({ isDelivered }) => isDelivered).map(({ sample }) => sample)
      const undelivered = batch.filter(({ isDelivered }) => !isDelivered).map(({ sample }) => sample)
      try {
        await this.#settle(queue.run, { delivered, undelivered })
        queue.waiting.splice(0, batch.length)
      } catch (error) {
        this.#deps.onError(error)
        await pause(RETRY_MS, this.#closing.signal)
      }
    }
    // // Runs in the same turn as the last check of the queue: a sample added in between would wait for the run's next
    // sample.
    queue.flushing = undefined
    if (queue.waiting.length === 0) this.#queues.delete(key)
  }

  /** Does nothing if the epoch has ended. */
  async #settle({ name, epoch }: RunRef, request: SettleRequest): Promise<void> {
    const { repository, runs, onClosed } = this.#deps
    for (let run = await runs.getCachedInEpoch(name, epoch); run; run = await runs.getInEpoch(name, epoch)) {
      const closed = await repository.settle(run, request)
      if (closed === 'run_changed') continue // the settings changed: read them again
      if (closed.length > 0) onClosed(run, closed)
      return
    }
  }
}
