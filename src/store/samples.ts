/**
 * The samples of a sampling in Redis: the items they are of, which lane is at which, what the model gave, what became of it.
 * Lanes claim one sample each, and a claim outlives its process: whoever takes the lane up again has the same sample, so that
 * none is asked for twice but those in flight.
 */
import type { Redis } from 'ioredis'
import type { Keys } from './keys.ts'
import { SAMPLES_KEPT_MS } from './samplings.ts'
import { loadScript } from './script.ts'

const addItems = loadScript('add-sampling-items-2')
const claimSample = loadScript('claim-sample-3')
const keepText = loadScript('keep-text-2')
const forgetTexts = loadScript('forget-texts-2')
const recordSample = loadScript('record-sample-4')

const EVENT_EVERY_MS = 250
const EVENTS_KEPT = 2000
/** Room for what the models of one eval gave, compressed; above, only verdicts are kept. */
const TEXTS_MOST_BYTES = 256 * 1024 * 1024

export type Claim = { kind: 'sample'; sample: number } | { kind: 'none' } | { kind: 'ended' }
export type Recorded = { kind: 'recorded'; isNew: boolean; done: number; total: number } | { kind: 'ended' }

export interface SampleRecord {
  verdict: unknown
  /** Sum of the scores. */
  score: number | null
  lane?: number
  counts?: number
  failed?: number
}

export class Samples {
  readonly #redis: Redis
  readonly #keys: Keys

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  items(id: string, from = 0, to = -1): Promise<string[]> {
    return this.#redis.lrange(this.#keys.ofSampling(id).items, from, to)
  }

  async item(id: string, at: number): Promise<string | undefined> {
    return (await this.#redis.lindex(this.#keys.ofSampling(id).items, at)) ?? undefined
  }

  /** Puts the samples' items on the list; only who holds the right to take may add. */
  async addItems(id: string, items: string[]): Promise<void> {
    const keys = this.#keys.ofSampling(id)
    await addItems(this.#redis, [keys.sampling, keys.items], [SAMPLES_KEPT_MS, ...items])
  }

  /** The right to take items for a sampling, for `ms` at most; false while another has it. */
  async mayTake(id: string, ms: number): Promise<boolean> {
    return (await this.#redis.set(this.#keys.ofSampling(id).taking, '1', 'PX', ms, 'NX')) === 'OK'
  }

  async doneTaking(id: string): Promise<void> {
    await this.#redis.del(this.#keys.ofSampling(id).taking)
  }

  async claim(id: string, lane: number): Promise<Claim> {
    const { sampling, claims, again } = this.#keys.ofSampling(id)
    const sample = Number(await claimSample(this.#redis, [sampling, claims, again], [lane, Date.now()]))
    if (sample === -2) return { kind: 'ended' }
    return sample === -1 ? { kind: 'none' } : { kind: 'sample', sample }
  }

  /** Keeps what the model gave, before it is scored: a second attempt finds it. False once there is no room for more. */
  async keepText(id: string, sample: number, text: Buffer): Promise<boolean> {
    const { sampling, texts } = this.#keys.ofSampling(id)
    const bytes = Number(await keepText(this.#redis, [sampling, texts], [sample, text, SAMPLES_KEPT_MS]))
    return bytes >= 0 && bytes <= TEXTS_MOST_BYTES
  }

  async text(id: string, sample: number): Promise<Buffer | undefined> {
    return (await this.#redis.hgetBuffer(this.#keys.ofSampling(id).texts, String(sample))) ?? undefined
  }

  async texts(id: string, samples: number[]): Promise<(Buffer | null)[]> {
    if (samples.length === 0) return []
    return this.#redis.hmgetBuffer(this.#keys.ofSampling(id).texts, ...samples.map(String))
  }

  /** Whether all of them are kept. */
  async hasTexts(id: string, samples: number[]): Promise<boolean> {
    const { texts } = this.#keys.ofSampling(id)
    const kept = await Promise.all(samples.map((sample) => this.#redis.hexists(texts, String(sample))))
    return kept.every((one) => one === 1)
  }

  async forgetTexts(id: string, samples: number[]): Promise<void> {
    const { sampling, texts } = this.#keys.ofSampling(id)
    await forgetTexts(this.#redis, [sampling, texts], samples)
  }

  /** `score` is null for a sample without one; `lane` is let go. A record may stand for several samples: a group. */
  async record(
    id: string,
    sample: number,
    { verdict, score, lane, counts = 1, failed = score === null ? 1 : 0 }: SampleRecord,
  ): Promise<Recorded> {
    const { sampling, verdicts, claims, events } = this.#keys.ofSampling(id)
    const [state, done = 0, total = 0] = (await recordSample(
      this.#redis,
      [sampling, verdicts, claims, events],
      [
        sample,
        JSON.stringify(verdict),
        lane ?? '',
        score ?? '',
        Date.now(),
        EVENT_EVERY_MS,
        EVENTS_KEPT,
        counts,
        failed,
      ],
    )) as number[] // as the script says
    return state === -1 ? { kind: 'ended' } : { kind: 'recorded', isNew: state === 1, done, total }
  }

  /** Lets a lane go whose sample belongs to what is recorded elsewhere. */
  async release(id: string, lane: number): Promise<void> {
    await this.#redis.hdel(this.#keys.ofSampling(id).claims, String(lane))
  }

  /** Verdicts of samples `from` to before `to`; null where there is none yet. */
  async verdicts(id: string, from: number, to: number): Promise<unknown[]> {
    if (to <= from) return []
    const fields = Array.from({ length: to - from }, (_, k) => String(from + k))
    const found = await this.#redis.hmget(this.#keys.ofSampling(id).verdicts, ...fields)
    return found.map((text) => (text === null ? null : (JSON.parse(text) as unknown))) // written by record
  }
}
