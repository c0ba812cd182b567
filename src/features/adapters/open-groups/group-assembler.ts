/**
 * Assembles the samples of one item of a run, which arrive one per call, in any order and through any node, into open
 * groups. A sample is recorded as pending before its response is sent, and counts once the response has been sent on an
 * open connection. If the client disconnects first, the sample is dropped, because the client sends it again.
 *
 * A process may die between the two steps. Its pending sample counts after a while, because the response may have been
 * sent, unless another process received an equal sample after the last sign of life of the dead process: that sample
 * was the retry. Two equal samples of live processes are two rollouts. A `rolloutKey` removes the ambiguity: one key is
 * one rollout.
 *
 * A closed group is submitted like any other, with the verdicts of its samples. It keeps them if all samples were scored
 * under the settings that hold when the group is scored. Otherwise its samples are graded again, and one whose first
 * grading failed on our side gets another chance.
 */

import { createHash, randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeBlob } from '@reasoning-gym-server/codec/compressed-blob'
import { canonicalJson } from '@reasoning-gym-server/codec/content-hash'
import type { Rollout } from '@reasoning-gym-server/contract/rollout'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { hasNoCompletion } from '../../../grading/finish-reason.ts'
import type { Submission } from '../../../grading/submission.ts'
import { limitTurns, toTurnText } from '../../../grading/tries.ts'
import { EventLoopBudget } from '../../../platform/event-loop-budget.ts'
import type { MetricsRecorder } from '../../../platform/metrics/metrics-recorder.ts'
import { redisNow } from '../../../platform/redis/redis-clock.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import {
  type CallAssembly,
  type GradedSample,
  isItemFault,
  type KnownVerdict,
  type Sample,
  type SampleCollector,
  type Siblings,
} from '../samples.ts'
import type { Delivery } from '../trainer-calls.ts'
import type { OpenGroupRepository, RecordedSample } from './repository.ts'
import type { SampleWriter } from './sample-writer.ts'

interface GroupAssemblerDeps {
  repository: Pick<OpenGroupRepository, 'listRewards' | 'countSubstitutes'>
  writer: Pick<SampleWriter, 'record' | 'settle'>
  recorder: Pick<MetricsRecorder, 'recordGatheredSamples'>
}

type PendingCallDeps = GroupAssemblerDeps & { nextCall: () => string; size?: number | undefined }

/**
 * A Redis that was stuck may run a command after its reply was lost, but it does so before the sweep would count the
 * sample.
 */
const LATE_WRITE_MS = 20_000

/** A call may hold thousands of samples. */
const budget = new EventLoopBudget()

export class GroupAssembler implements SampleCollector {
  readonly #deps: PendingCallDeps

  constructor(deps: GroupAssemblerDeps) {
    // distinguishes this process from other processes, including earlier ones with the same PID
    const process = randomUUID().slice(0, 8)
    let calls = 0
    this.#deps = { ...deps, nextCall: () => `${process}.${(calls++).toString(36)}` }
  }

  start(delivery: Delivery, size?: number): CallAssembly {
    return new PendingCall({ ...this.#deps, size }, delivery)
  }

  async countSubstitutes(run: ResolvedRun, count: number): Promise<void> {
    await this.#deps.repository.countSubstitutes(run, count).catch(() => {})
  }
}

/** The samples of one call, until it is known whether its response was delivered. */
class PendingCall implements CallAssembly {
  readonly #deps: PendingCallDeps
  /**
   * Recorded samples, keyed by position in the call. They are kept across attempts, so that a sample whose reply was
   * lost is not recorded twice.
   */
  readonly #samples = new Map<number, RecordedSample>()
  readonly #arrived = redisNow()
  #run: ResolvedRun | undefined
  #isRecorded = false
  #mayBeWrittenLate = false
  /** Number of Redis calls in flight. */
  #writes = 0
  #isDelivered: boolean | undefined

  constructor(deps: PendingCallDeps, delivery: Delivery) {
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
    // let a disconnect that happened while this process was busy be noticed before the response is written
    await nextTurn()
    return true
  }

  async readSiblings(run: ResolvedRun, samples: readonly (GradedSample | undefined)[]): Promise<Map<string, Siblings>> {
    const unscored = samples.flatMap((sample, position) => {
      const recorded = sample?.verdict.status === 'unscored' && this.#samples.get(position)
      return recorded ? [[recorded.itemId, recorded.item] as const] : []
    })
    if (this.#isDelivered === false) return new Map()
    const siblings = [...new Map(unscored)].map(async ([itemId, item]): Promise<[string, Siblings]> => {
      const rewards = await this.#deps.repository.listRewards(run, item)
      return [itemId, { rewards: rewards.filter((reward) => reward !== null), count: rewards.length }]
    })
    return new Map(await Promise.all(siblings))
  }

  async #recordAll(run: ResolvedRun, samples: readonly (GradedSample | undefined)[]): Promise<boolean> {
    const { writer, recorder, nextCall, size } = this.#deps
    const attempts = samples.flatMap((sample, position) => {
      if (!sample || isItemFault(sample.verdict)) return []
      const record = () => {
        const known = this.#samples.get(position) ?? createRecordedSample(sample, run.settings, nextCall())
        const recorded = { ...known, arrived: this.#arrived, size, reward: sample.verdict.reward } // the settings may have changed
        this.#samples.set(position, recorded)
        return writer.record(run, recorded)
      }
      return [budget.run(record)]
    })
    await Promise.allSettled(attempts) // no attempt is in flight when this method ends
    const results = await Promise.all(attempts)
    if (results.includes('run_changed')) return false
    // afterward the samples are only kept pending
    if (!this.#isRecorded) recorder.recordGatheredSamples(results.filter((result) => result !== 'run_changed'))
    return true
  }

  /** Settles after the last write, because commands on two connections may overtake each other. */
  #settle(): void {
    if (this.#isDelivered === undefined || this.#writes > 0) return
    const run = this.#run
    const samples = [...this.#samples.values()]
    if (!run || samples.length === 0) return
    const { writer } = this.#deps
    const counts = this.#isDelivered && this.#isRecorded
    writer.settle(run, samples, counts)
    if (counts || !this.#mayBeWrittenLate) return
    setTimeout(() => writer.settle(run, samples, false), LATE_WRITE_MS).unref()
  }
}

/** 16 hex digits are 64 bits, enough to distinguish the items of one run. */
const ITEM_KEY_LENGTH = 16
const HASH_LENGTH = 32
/** A sample is stored for seconds, and its group is compressed. Compressing a short one takes longer than all else about it. */
const MIN_COMPRESSED_ROLLOUT_BYTES = 4096

/**
 * `call` is `PROCESS.NUMBER`, unique to this sample. It is also the sample's ID unless the client named the rollout.
 */
export function createRecordedSample(
  sample: Sample & { itemId: string; known?: KnownVerdict | undefined },
  settings: Pick<RunSettings, 'extraction' | 'length_penalty' | 'tries'>,
  call: string,
): Omit<RecordedSample, 'reward' | 'arrived'> {
  const { itemId, rolloutKey, known } = sample
  const json = canonicalJson(toRollout(sample, settings))
  return {
    item: hash(itemId).slice(0, ITEM_KEY_LENGTH),
    itemId,
    id: rolloutKey === undefined ? call : `key.${hash(JSON.stringify([itemId, rolloutKey]))}`,
    isNamed: rolloutKey !== undefined,
    call,
    contentHash: hash(json),
    rollout: encodeBlob(Buffer.from(known ? addKnownVerdict(json, known) : json), MIN_COMPRESSED_ROLLOUT_BYTES),
  }
}

/** An earlier version reads it as a field of the rollout that it does not know. */
function addKnownVerdict(json: string, known: KnownVerdict): string {
  return `${json.slice(0, -1)},"known":${JSON.stringify(known)}}`
}

/**
 * The original's length penalty needs the lengths of a whole group, so a single sample's reward cannot include it. The
 * rollout omits its length, so that the group does not apply the penalty either and keeps the rewards that were sent.
 */
function toRollout(
  { submission, rolloutKey, tokens, finishReason }: Sample,
  { extraction, length_penalty, tries }: Pick<RunSettings, 'extraction' | 'length_penalty' | 'tries'>,
): Rollout {
  return {
    ...toText(limitTurns(submission, tries), extraction),
    ...(finishReason !== undefined && { finish_reason: finishReason }),
    ...(submission.kind === 'nothing' && !hasNoCompletion(finishReason) && { finish_reason: 'error' }),
    ...(tokens !== undefined && length_penalty !== true && { length_tokens: tokens }),
    ...(rolloutKey !== undefined && { extra: { rollout_key: rolloutKey } }),
  }
}

/** A group holds completions, so a bare answer becomes a completion that contains it. */
function toText(
  submission: Submission,
  extraction: RunSettings['extraction'],
): Pick<Rollout, 'completion' | 'messages' | 'turns'> {
  switch (submission.kind) {
    case 'completion':
      return { completion: submission.completion }
    case 'messages':
      return { messages: submission.messages }
    case 'turns':
      return { turns: [...submission.turns] }
    case 'answer':
    case 'nothing':
      return { completion: toTurnText(submission, extraction) }
  }
}

function hash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, HASH_LENGTH)
}
