/**
 * The samples of a sampling in Redis: the items they are of, which lane is at which, what the model gave, what became of it.
 * Lanes claim one sample each, and a claim outlives its process: whoever takes the lane up again has the same sample, so that
 * none is asked for twice but those in flight.
 */
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { SAMPLE_RETENTION_MS } from './generation-job-repository.ts'
import { type AllGenerationJobKeys, createGenerationJobKeys } from './keys.ts'

const appendItems = defineScript({
  folder: import.meta.dirname,
  name: 'append-job-items',
  keys: ['job', 'items'],
})
const claimSample = defineScript({
  folder: import.meta.dirname,
  name: 'claim-sample',
  keys: ['job', 'claims', 'retries'],
})
const storeCompletion = defineScript({
  folder: import.meta.dirname,
  name: 'store-completion',
  keys: ['job', 'completions'],
})
const deleteCompletions = defineScript({
  folder: import.meta.dirname,
  name: 'delete-completions',
  keys: ['job', 'completions'],
})
const recordSample = defineScript({
  folder: import.meta.dirname,
  name: 'record-sample',
  keys: ['job', 'verdicts', 'claims', 'events'],
})

const PROGRESS_EVENT_INTERVAL_MS = 250
const MAX_PROGRESS_EVENTS = 2000
/** Room for what the models of one eval gave, compressed; above, only verdicts are kept. */
const MAX_COMPLETION_BYTES = 256 * 1024 * 1024

export type SampleClaim = { kind: 'sample'; sample: number } | { kind: 'none' } | { kind: 'ended' }
export type RecordSampleResult = { kind: 'recorded'; isNew: boolean; done: number; total: number } | { kind: 'ended' }

export interface SampleRecord {
  verdict: unknown
  /** Sum of the scores. */
  score: number | null
  slot?: number
  sampleCount?: number
  failedCount?: number
}

export class SampleRepository {
  readonly #redis: Redis
  readonly #keys: AllGenerationJobKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createGenerationJobKeys(keys)
  }

  listItems(id: string, from = 0, to = -1): Promise<string[]> {
    return this.#redis.lrange(this.#keys.forGenerationJob(id).items, from, to)
  }

  async getItem(id: string, at: number): Promise<string | undefined> {
    return (await this.#redis.lindex(this.#keys.forGenerationJob(id).items, at)) ?? undefined
  }

  /** Puts the samples' items on the list; only who holds the right to take may add. */
  async appendItems(id: string, items: string[]): Promise<void> {
    const keys = this.#keys.forGenerationJob(id)
    await appendItems(this.#redis, keys, [SAMPLE_RETENTION_MS, ...items])
  }

  /** The right to take items for a sampling, for `ms` at most; false while another has it. */
  async acquireItemLock(id: string, ms: number): Promise<boolean> {
    return (await this.#redis.set(this.#keys.forGenerationJob(id).itemLock, '1', 'PX', ms, 'NX')) === 'OK'
  }

  async releaseItemLock(id: string): Promise<void> {
    await this.#redis.del(this.#keys.forGenerationJob(id).itemLock)
  }

  async claim(id: string, lane: number): Promise<SampleClaim> {
    const sample = Number(await claimSample(this.#redis, this.#keys.forGenerationJob(id), [lane, Date.now()]))
    if (sample === -2) return { kind: 'ended' }
    return sample === -1 ? { kind: 'none' } : { kind: 'sample', sample }
  }

  /** Keeps what the model gave, before it is scored: a second attempt finds it. False once there is no room for more. */
  async storeCompletion(id: string, sample: number, text: Buffer): Promise<boolean> {
    const keys = this.#keys.forGenerationJob(id)
    const bytes = Number(await storeCompletion(this.#redis, keys, [sample, text, SAMPLE_RETENTION_MS]))
    return bytes >= 0 && bytes <= MAX_COMPLETION_BYTES
  }

  async getCompletion(id: string, sample: number): Promise<Buffer | undefined> {
    return (await this.#redis.hgetBuffer(this.#keys.forGenerationJob(id).completions, String(sample))) ?? undefined
  }

  async getCompletions(id: string, samples: number[]): Promise<(Buffer | null)[]> {
    if (samples.length === 0) return []
    return this.#redis.hmgetBuffer(this.#keys.forGenerationJob(id).completions, ...samples.map(String))
  }

  /** Whether all of them are kept. */
  async hasCompletions(id: string, samples: number[]): Promise<boolean> {
    const { completions: texts } = this.#keys.forGenerationJob(id)
    const kept = await Promise.all(samples.map((sample) => this.#redis.hexists(texts, String(sample))))
    return kept.every((one) => one === 1)
  }

  async deleteCompletions(id: string, samples: number[]): Promise<void> {
    await deleteCompletions(this.#redis, this.#keys.forGenerationJob(id), samples)
  }

  /** `score` is null for a sample without one; `lane` is let go. A record may stand for several samples: a group. */
  async record(
    id: string,
    sample: number,
    { verdict, score, slot: lane, sampleCount: counts = 1, failedCount: failed = score === null ? 1 : 0 }: SampleRecord,
  ): Promise<RecordSampleResult> {
    const [state, done = 0, total = 0] = (await recordSample(this.#redis, this.#keys.forGenerationJob(id), [
      sample,
      JSON.stringify(verdict),
      lane ?? '',
      score ?? '',
      Date.now(),
      PROGRESS_EVENT_INTERVAL_MS,
      MAX_PROGRESS_EVENTS,
      counts,
      failed,
    ])) as number[] // as the script says
    return state === -1 ? { kind: 'ended' } : { kind: 'recorded', isNew: state === 1, done, total }
  }

  /** Lets a lane go whose sample belongs to what is recorded elsewhere. */
  async releaseSlot(id: string, lane: number): Promise<void> {
    await this.#redis.hdel(this.#keys.forGenerationJob(id).claims, String(lane))
  }

  /** Verdicts of samples `from` to before `to`; null where there is none yet. */
  async listVerdicts(id: string, from: number, to: number): Promise<unknown[]> {
    if (to <= from) return []
    const fields = Array.from({ length: to - from }, (_, k) => String(from + k))
    const found = await this.#redis.hmget(this.#keys.forGenerationJob(id).verdicts, ...fields)
    return found.map((text) => (text === null ? null : (JSON.parse(text) as unknown))) // written by record
  }
}
