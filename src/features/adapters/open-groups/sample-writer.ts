/**
 * Writes what happens to samples to Redis: that they are recorded, and later, whether their responses were sent. For each
 * run, one script at a time writes all that came since the previous one, so that samples share its cost. Settling is
 * retried until Redis accepts it; the sweep settles the samples of a process that dies.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { pause } from '../../../platform/retry.ts'
import type { Runs } from '../../runs/runs.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import type { OpenGroupRepository, RecordedSample, RecordSampleResult, SampleChanges, SampleRef } from './repository.ts'

type RunRef = Pick<ResolvedRun, 'name' | 'epoch'>
type RecordReply = RecordSampleResult | 'run_changed'

interface WaitingRecord extends Pick<PromiseWithResolvers<RecordReply>, 'resolve' | 'reject'> {
  run: ResolvedRun
  sample: RecordedSample
}

interface WaitingSettlement {
  sample: SampleRef
  isDelivered: boolean
}

interface SampleQueue extends RunRef {
  records: WaitingRecord[]
  settlements: WaitingSettlement[]
  writing: Promise<void> | undefined
}

interface SampleWriterDeps {
  repository: Pick<OpenGroupRepository, 'write'>
  runs: Pick<Runs, 'get'>
  /** Called with the IDs of the groups that became full. */
  onClosed: (run: ResolvedRun, ids: string[]) => void
  onError: (error: unknown) => void
}

/** Samples that one script settles and records, which takes Redis about two milliseconds. */
const MAX_SETTLEMENTS_PER_CALL = 200
const MAX_RECORDS_PER_CALL = 64
const MAX_RECORD_BYTES_PER_CALL = 4 * 1024 * 1024
/**
 * Limit on the settlements of one run that wait while Redis is unavailable. The sweep counts samples beyond it, like those
 * of a dead process.
 */
const MAX_WAITING_SETTLEMENTS = 100_000
const RETRY_MS = 500
/** Part of the time that a process has for its shutdown. */
const CLOSE_TIMEOUT_MS = 2000

export class SampleWriter {
  readonly #deps: SampleWriterDeps
  readonly #queues = new Map<string, SampleQueue>()
  readonly #closing = new AbortController()

  constructor(deps: SampleWriterDeps) {
    this.#deps = deps
  }

  /** Records a sample before its response is sent. Returns `run_changed` if the settings have changed. */
  record(run: ResolvedRun, sample: RecordedSample): Promise<RecordReply> {
    const { promise, resolve, reject } = Promise.withResolvers<RecordReply>()
    this.#add(run, ({ records }) => records.push({ run, sample, resolve, reject }))
    return promise
  }

  /** Says whether the responses of samples were sent. */
  settle(run: RunRef, samples: readonly SampleRef[], isDelivered: boolean): void {
    this.#add(run, ({ settlements }) => {
      const room = MAX_WAITING_SETTLEMENTS - settlements.length
      for (const sample of samples.slice(0, room)) settlements.push({ sample, isDelivered })
    })
  }

  /** Settles as many waiting samples as possible before the timeout. */
  async close(): Promise<void> {
    const written = Promise.all([...this.#queues.values()].flatMap(({ writing }) => writing ?? []))
    await Promise.race([written, sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
    this.#closing.abort()
  }

  #add({ name, epoch }: RunRef, add: (queue: SampleQueue) => void): void {
    const key = `${name}/${epoch}`
    const queue = this.#queues.get(key) ?? { name, epoch, records: [], settlements: [], writing: undefined }
    this.#queues.set(key, queue)
    add(queue)
    queue.writing ??= this.#writeAll(key, queue)
  }

  /** Never rejects. */
  async #writeAll(key: string, queue: SampleQueue): Promise<void> {
    const isEmpty = () => queue.records.length + queue.settlements.length === 0
    while (!isEmpty() && !this.#closing.signal.aborted) {
      const records = takeRecords(queue.records)
      const settlements = queue.settlements.slice(0, MAX_SETTLEMENTS_PER_CALL)
      const isSettled = await this.#write(queue, records, settlements)
      if (isSettled) queue.settlements.splice(0, settlements.length)
      else await pause(RETRY_MS, this.#closing.signal)
    }
    // Runs in the same turn as the last check of the queue: what is added in between would wait for the run's next sample.
    queue.writing = undefined
    if (isEmpty()) this.#queues.delete(key)
    for (const { reject } of queue.records.splice(0))
      reject(new ServiceError('server_busy', 'The server is shutting down. Send the sample again.'))
  }

  /**
   * Returns whether the samples are settled. If Redis rejects the script, for example because it is full, what it contains is
   * written one by one, so that nothing fails for another sample.
   */
  async #write(queue: RunRef, records: WaitingRecord[], settlements: WaitingSettlement[]): Promise<boolean> {
    try {
      return await this.#tryWrite(queue, records, settlements)
    } catch (error) {
      const isReply = error instanceof Error && error.name === 'ReplyError' // and not an outage, which all share
      if (isReply && records.length + Math.min(settlements.length, 1) > 1) {
        const isSettled = await this.#write(queue, [], settlements)
        for (const record of records) await this.#write(queue, [record], [])
        return isSettled
      }
      for (const { reject } of records) reject(error)
      if (settlements.length === 0) return true
      this.#deps.onError(error)
      return false
    }
  }

  async #tryWrite(queue: RunRef, records: WaitingRecord[], settlements: WaitingSettlement[]): Promise<boolean> {
    const { repository, runs, onClosed } = this.#deps
    const changes: SampleChanges = {
      records: records.map(({ sample }) => sample),
      delivered: settlements.flatMap(({ isDelivered, sample }) => (isDelivered ? [sample] : [])),
      undelivered: settlements.flatMap(({ isDelivered, sample }) => (isDelivered ? [] : [sample])),
    }
    const { name, epoch } = queue
    let run = records[0]?.run ?? (await runs.get(name, { epoch, fresh: false }))
    while (run) {
      const written = await repository.write(run, changes)
      if (written === undefined) break
      if (written !== 'run_changed') {
        for (const [k, { resolve }] of records.entries()) resolve(written.results[k] ?? 'run_changed')
        if (written.closed.length > 0) onClosed(run, written.closed)
        return true
      }
      for (const { resolve } of records.splice(0)) resolve('run_changed') // the caller grades them by the new settings
      changes.records = []
      run = await runs.get(name, { epoch })
    }
    for (const { resolve } of records) resolve('run_changed') // the epoch has ended
    return true
  }
}

/** Takes the next records of one revision of the run. */
function takeRecords(waiting: WaitingRecord[]): WaitingRecord[] {
  const revision = waiting[0]?.run.revision
  let [count, bytes] = [0, 0]
  for (const { run, sample } of waiting) {
    bytes += sample.rollout.byteLength
    const isFull = count === MAX_RECORDS_PER_CALL || (count > 0 && bytes > MAX_RECORD_BYTES_PER_CALL)
    if (isFull || run.revision !== revision) break
    count++
  }
  return waiting.splice(0, count)
}
