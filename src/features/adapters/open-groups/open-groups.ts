/**
 * Open groups: the samples of one item of a run, which come one a call, in any order and through any node. A sample is noted
 * as pending before its answer leaves, and counts once the answer has left on an open connection. What its client gave up on
 * is forgotten, because the client sends it again.
 *
 * A process may die between the two. Its pending sample counts after a while, because the answer may have left, unless an
 * equal sample came to another process since it was last heard of: that was its retry. Two equal samples of live processes are
 * two rollouts.
 * With a `rolloutKey` there is nothing to guess: one key, one rollout.
 */
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { UnscoredCode } from '../../../contract/verdict.ts'
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

/** A command whose reply was lost may be carried out later, by a Redis that was stuck; sooner than the sweep would count it. */
const LATE_WRITE_MS = 20_000

export class OpenGroups implements SampleGatherer {
  readonly #deps: GatheringDeps

  constructor(deps: OpenGroupsDeps) {
    const process = randomUUID().slice(0, 8) // tells it from others, and from those that had its number
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
  /** By position in the call; kept over attempts, so that a sample whose reply was lost is not noted twice. */
  readonly #samples = new Map<number, RecordedSample>()
  #run: ResolvedRun | undefined
  #isRecorded = false
  #mayBeWrittenLate = false
  /** Calls to Redis in flight. */
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
    if (this.#isDelivered === false) return true // the client has gone: it sends the samples again
    if (this.#run && this.#run.epoch !== run.epoch) this.#samples.clear() // what was noted went with the epoch
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
    await nextTurn() // a client that has gone while this process was busy is noticed before the answer is written
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
    await Promise.allSettled(attempts) // none is in flight when this has ended
    const results = await Promise.all(attempts)
    if (results.includes('run_changed')) return false
    recorder.recordGatheredSamples(results.filter((result) => result !== 'run_changed'))
    return true
  }

  /** After the last write, since commands of two connections may overtake each other. */
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

/** What cannot be scored for a reason that lies in the sample, such as its item ID, is no rollout of an item. */
function isGathered({ verdict }: GradedSample): boolean {
  return verdict.status === 'scored' || UnscoredCode.safeParse(verdict.code).success
}
