/**
 * Open groups collect the samples of one item of a run, which arrive one per call, in any order and through any node. A
 * sample is recorded as pending before its response is sent, and counts once the response has been sent on an open
 * connection. If the client disconnects first, the sample is dropped, because the client sends it again.
 *
 * A process may die between the two steps. Its pending sample counts after a while, because the response may have been
 * sent, unless another process received an equal sample after the last sign of life of the dead process: that sample
 * was the retry. Two equal samples of live processes are two rollouts. A `rolloutKey` removes the ambiguity: one key is
 * one rollout.
 */
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { UnscoredCode } from '@reasoning-gym-server/contract/verdict'
import type { MetricsRecorder } from '../../../platform/metrics/metrics-recorder.ts'
import type { ResolvedRun } from '../../runs/resolved-run.ts'
import type { Delivery } from '../delivery.ts'
import type { Gathering, GradedSample, SampleGatherer } from '../sample-scoring.ts'
import type { OpenGroupRepository, RecordedSample } from './repository.ts'
import { createRecordedSample } from './sample-rollout.ts'
import type { SampleSettlement } from './sample-settlement.ts'

interface OpenGroupsDeps {
  repository: OpenGroupRepository
  settlement: SampleSettlement
  recorder: Pick<MetricsRecorder, 'recordGatheredSamples'>
}

type GatheringDeps = OpenGroupsDeps & { nextCall: () => string }

/**
 * A Redis that was stuck may run a command after its reply was lost, but it does so before the sweep would count the
 * sample.
 */
const LATE_WRITE_MS = 20_000

export class OpenGroups implements SampleGatherer {
  readonly #deps: GatheringDeps

  constructor(deps: OpenGroupsDeps) {
    // // distinguishes it from other processes, including earlier ones with the same PID
    const process = randomUUID().slice(0, 8)
    let calls = 0
    this.#deps = { ...deps, nextCall: () => `${process}.${(calls++).toString(36)}` }
  }

  start(delivery: Delivery): Gathering {
    return new CallGathering(this.#deps, delivery)
  }
}

/** The samples of one call. */
class CallGathering implements Gathering {
  readonly #deps: GatheringDeps
  /**
   * Recorded samples, keyed by position in the call. They are kept across attempts, so that a sample whose reply was
   * lost is not recorded twice.
   */
  readonly #samples = new Map<number, RecordedSample>()
  #run: ResolvedRun | undefined
  #isRecorded = false
  #mayBeWrittenLate = false
  /** Number of Redis calls in flight. */
  #writes = 0
  #isDelivered: boolean | undefined

  constructor(deps: GatheringDeps, delivery: Delivery) {
    this.#deps = deps
    void delivery.then((isDelivered) => {
      this.#isDelivered = isDelivered
      this.#settle()
    })
  }

  async record(run: ResolvedRun, samples: readonly (GradedSample | undefined)[]): Promise<boolean> {
    if (this.#isDelivered === false) return true // the client disconnected and sends the samples again
    if (this.#run && this.#run.epoch !== run.epoch) this.#samples.clear() // the earlier records ended with the epoch
    this.#run = run
    this.#writes++
    try {
      if (!(await this.#recordAll(run, samples))) return false
      this.#isRecorded = true
    } catch (error) {
      this.#mayBeWrittenLate = true
      throw error
    } finally {
      this.#writes--
      this.#settle()
    }
    // // let a disconnect that happened while this process was busy be noticed before the response is written
    await nextTurn()
    return true
  }

  async #recordAll(run: ResolvedRun, samples: readonly (GradedSample | undefined)[]): Promise<boolean> {
    const { repository, recorder, nextCall } = this.#deps
    const attempts = samples.flatMap((sample, position) => {
      if (!sample || !isGathered(sample)) return []
      const recorded = this.#samples.get(position) ?? createRecordedSample(sample, run.settings, nextCall())
      this.#samples.set(position, recorded)
      return [repository.record(run, recorded)]
    })
    await Promise.allSettled(attempts) // no attempt is in flight when this method ends
    const results = await Promise.all(attempts)
    if (results.includes('run_changed')) return false
    recorder.recordGatheredSamples(results.filter((result) => result !== 'run_changed'))
    return true
  }

  /** Settles after the last write, because commands on two connections may overtake each other. */
  #settle(): void {
    if (this.#isDelivered === undefined || this.#writes > 0) return
    const run = this.#run
    const samples = [...this.#samples.values()]
    if (!run || samples.length === 0) return
    const { settlement } = this.#deps
    const counts = this.#isDelivered && this.#isRecorded
    settlement.add(run, samples, counts)
    if (counts || !this.#mayBeWrittenLate) return
    setTimeout(() => settlement.add(run, samples, false), LATE_WRITE_MS).unref()
  }
}

/**
 * Returns whether the sample becomes a rollout. A sample with a fault of its own, such as an unreadable item ID, does
 * not.
 */
function isGathered({ verdict }: GradedSample): boolean {
  return verdict.status === 'scored' || UnscoredCode.safeParse(verdict.code).success
}
