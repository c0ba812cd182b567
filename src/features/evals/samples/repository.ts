/**
 * Stores the samples of a generation job in Redis: their items, the slot that processes each sample, outputs and
 * verdicts. Each slot claims one sample at a time. A claim outlives its process: the next process that runs the slot
 * gets the same sample, so after a crash the model only repeats what was in flight.
 */
import { dirname } from 'node:path'
import type { Redis } from 'ioredis'
import type { z } from 'zod'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { formatChannel } from '../../../platform/redis/notifications.ts'
import { redisNow } from '../../../platform/redis/redis-clock.ts'
import { defineScript } from '../../../platform/redis/scripts.ts'
import { createGenerationJobKeys, type GenerationJobKeys, SCRIPT_CONSTANTS } from '../records.ts'
import { type FailureCause, mergeFailures, toStoredFailure } from './failure-reasons.ts'

const folder = dirname(import.meta.dirname)
const constants = SCRIPT_CONSTANTS
const appendItems = defineScript(folder, 'append-job-items', constants)
const chooseItem = defineScript(folder, 'choose-item', constants)
const claimSample = defineScript(folder, 'claim-sample', constants)
const storeSampleOutput = defineScript(folder, 'store-sample-output', constants)
const deleteSampleOutputs = defineScript(folder, 'delete-sample-outputs', constants)
const releaseSlot = defineScript(folder, 'release-slot', constants)
const recordSample = defineScript(folder, 'record-sample', constants)

type SampleClaim = { kind: 'sample'; sample: number } | { kind: 'none' } | { kind: 'ended' }
export type RecordSampleResult =
  | {
      kind: 'recorded'
      isNew: boolean
      done: number
      total: number
      /** Number of samples so far that failed for the most frequent reason. */
      sameFailures: number
    }
  | { kind: 'ended' }

interface StoredOutput {
  /** Undefined if there is no room for it. */
  output: Buffer | undefined
  /** Whether it is the answer of the model. */
  isAnswer?: boolean
  /** Number of the verdict with which the sample is done, for which no output is stored then. */
  verdict?: number
  /** A stored output, of a failure, that it may replace. */
  replaces?: Buffer | undefined
}

interface SampleRecord {
  verdict: unknown
  /** Score to add to the sum, or null for a sample without a score. */
  score: number | null
  /** The slot that is released, and the sample that it has claimed. */
  slot?: number
  claimed?: number
  /** Number of samples that this record covers: a collection records whole groups. */
  sampleCount?: number
  failures: readonly FailureCause[]
  /** Number of samples of this record without a score, if not all of them have a cause. */
  failedCount?: number
}

export class SampleRepository {
  readonly #redis: Redis
  readonly #keys: GenerationJobKeys
  readonly #channel: string

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createGenerationJobKeys(keys)
    this.#channel = formatChannel(keys)
  }

  /** Lists the items of a job whose items are known from the start or claimed as needed. */
  listItems(id: string): Promise<string[]> {
    return this.#redis.lrange(this.#keys.forGenerationJob(id).items, 0, -1)
  }

  countItems(id: string): Promise<number> {
    return this.#redis.llen(this.#keys.forGenerationJob(id).items)
  }

  async getItem(id: string, index: number): Promise<string | undefined> {
    return (await this.#redis.lindex(this.#keys.forGenerationJob(id).items, index)) ?? undefined
  }

  /** Stores the item of a sample, for a job that chooses its items as it progresses. Returns the item that was stored first. */
  async chooseItem(id: string, sample: number, item: string): Promise<string> {
    return String(await chooseItem(this.#redis, this.#keys.forGenerationJob(id), [sample, item]))
  }

  /** Lists the chosen items, with null where none is chosen yet. */
  async listChosenItems(id: string, samples: readonly number[]): Promise<(string | null)[]> {
    if (samples.length === 0) return []
    return this.#redis.hmget(this.#keys.forGenerationJob(id).items, ...samples.map(String))
  }

  /**
   * Appends items after the first `claimed`. Returns false if the list is already longer, because this claim ended and
   * another process appended.
   */
  async appendItems(id: string, claimed: number, items: string[]): Promise<boolean> {
    const keys = this.#keys.forGenerationJob(id)
    return (await appendItems(this.#redis, keys, [claimed, ...items])) === 1
  }

  /** Acquires the right to claim items for a job, for at most `ms`. Returns false while another process holds it. */
  async acquireItemClaim(id: string, ms: number): Promise<boolean> {
    return (await this.#redis.set(this.#keys.forGenerationJob(id).itemClaimLock, '1', 'PX', ms, 'NX')) === 'OK'
  }

  async releaseItemClaim(id: string): Promise<void> {
    await this.#redis.del(this.#keys.forGenerationJob(id).itemClaimLock)
  }

  async claim(id: string, slot: number): Promise<SampleClaim> {
    const sample = Number(await claimSample(this.#redis, this.#keys.forGenerationJob(id), [slot, redisNow()]))
    if (sample === -2) return { kind: 'ended' }
    return sample === -1 ? { kind: 'none' } : { kind: 'sample', sample }
  }

  /**
   * Stores an output before it is graded, so that a second attempt finds it. Notes if it is the answer of the model. Returns
   * false if the job does not exist, or if another output came first: two workers process a sample if one stalls.
   */
  async storeOutput(
    id: string,
    sample: number,
    { output = Buffer.alloc(0), isAnswer = false, verdict, replaces }: StoredOutput,
  ): Promise<boolean> {
    const args = [sample, output, isAnswer ? 1 : 0, verdict ?? '', replaces ?? '']
    return (await storeSampleOutput(this.#redis, this.#keys.forGenerationJob(id), args)) === 1
  }

  async getOutput(id: string, sample: number): Promise<Buffer | undefined> {
    return (await this.#redis.hgetBuffer(this.#keys.forGenerationJob(id).outputs, String(sample))) ?? undefined
  }

  async getOutputs(id: string, samples: number[]): Promise<(Buffer | null)[]> {
    if (samples.length === 0) return []
    return this.#redis.hmgetBuffer(this.#keys.forGenerationJob(id).outputs, ...samples.map(String))
  }

  async hasAllOutputs(id: string, samples: number[]): Promise<boolean> {
    const { outputs } = this.#keys.forGenerationJob(id)
    const stored = await Promise.all(samples.map((sample) => this.#redis.hexists(outputs, String(sample))))
    return stored.every((exists) => exists === 1)
  }

  async deleteOutputs(id: string, samples: number[]): Promise<void> {
    await deleteSampleOutputs(this.#redis, this.#keys.forGenerationJob(id), samples)
  }

  async record(
    id: string,
    sample: number,
    { verdict, score, slot, claimed = sample, sampleCount = 1, failures, failedCount = failures.length }: SampleRecord,
  ): Promise<RecordSampleResult> {
    const record = {
      sample,
      verdict: JSON.stringify(verdict),
      slot,
      claimed: String(claimed),
      score: score === null ? undefined : String(score), // text: Lua would pass on a number with rounding errors
      now: redisNow(),
      samples: sampleCount,
      failed: failedCount,
      failures: mergeFailures(failures.map((cause) => toStoredFailure(cause))),
      channel: this.#channel,
    }
    const [state, done = 0, total = 0, sameFailures = 0] = (await recordSample(
      this.#redis,
      this.#keys.forGenerationJob(id),
      [JSON.stringify(record)],
    )) as number[] // the script's contract
    return state === -1 ? { kind: 'ended' } : { kind: 'recorded', isNew: state === 1, done, total, sameFailures }
  }

  /** Releases a slot whose sample is recorded with its group, unless it has another one by now. */
  async releaseSlot(id: string, slot: number, sample: number): Promise<void> {
    await releaseSlot(this.#redis, this.#keys.forGenerationJob(id), [slot, sample])
  }

  /**
   * Lists the verdicts of samples from `from` (inclusive) to `to` (exclusive), parsed with `schema`, with null where
   * there is none yet.
   */
  listVerdicts<T>(schema: z.ZodType<T>, id: string, from: number, to: number): Promise<(T | null)[]> {
    const samples = Array.from({ length: Math.max(0, to - from) }, (_, k) => from + k)
    return this.listVerdictsOf(schema, id, samples)
  }

  /** Lists the verdicts of the given samples in the same way. */
  async listVerdictsOf<T>(schema: z.ZodType<T>, id: string, samples: readonly number[]): Promise<(T | null)[]> {
    if (samples.length === 0) return []
    const texts = await this.#redis.hmget(this.#keys.forGenerationJob(id).verdicts, ...samples.map(String))
    return texts.map((text) => (text === null ? null : schema.parse(JSON.parse(text))))
  }
}
