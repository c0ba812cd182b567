/**
 * The texts and arrays of groups in Redis, in keys of their own. Their names have no hash tag, so the payloads of one run
 * spread over all masters of a cluster, while the run's slot keeps the small records that scripts change together.
 *
 * No script can span slots, so the order of the steps keeps the two together:
 *
 *   post     the payload is written with an expiry, the group is accepted, the expiry is removed, the caller is answered.
 *            A crash in between leaves a payload that expires.
 *   release  the script that ends the use of a payload lists it in the run's slot. Then its keys are deleted, and its
 *            entry in the list last. A sweep repeats what a crash left in the list.
 */
import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { Platform } from '../../platform/platform.ts'
import type { ReplicationMark, WriteConfirmation } from '../../platform/redis/replication.ts'
import { runOnScriptConnection } from '../../platform/redis/script-connections.ts'
import type { ListEpochKeys } from '../runs/records.ts'
import type { RunRepository } from '../runs/repository.ts'
import type { RunIndex } from '../runs/run-index.ts'
import { sweepEach } from '../runs/sweep-each.ts'
import type { GroupPayload } from './group-payload.ts'
import { createGroupKeys, type GroupKeys, groupRecord, type PayloadKeys } from './records.ts'

/** Time to accept a group whose payload is written. Longer than any pause of a process or of Redis that still ends well. */
export const PAYLOAD_EXPIRY_MS = 15 * 60 * 1000
/** Time for which the texts of a retired group are retained for readers, unless newer ones need their room. */
const RETIRED_TEXT_EXPIRY_MS = 24 * 60 * 60 * 1000
/** Replies of PTTL. */
const NO_EXPIRY = -1
const NO_KEY = -2
const TOKEN_BYTES = 12
/** Number of payloads that one step of a sweep or of the removal of a run handles. */
const CHUNK_SIZE = 500

/** A payload in a group's record: `TOKEN:TEXT_BYTES:ARRAY_BYTES`. The sizes are those of the keys' values. */
export interface StoredPayload {
  /** Unique for each attempt to post a group, so that a repeated post never touches the payload of the accepted one. */
  token: string
  textBytes: number
  arrayBytes: number
}

export type PayloadRepositoryDeps = Pick<Platform, 'redis' | 'keys' | 'replication'>
type PayloadBlobs = Pick<GroupPayload, 'texts' | 'arrays'>
interface EpochOfRun {
  run: string
  epoch: number
}

export class PayloadRepository {
  readonly #redis: Redis
  readonly #keys: GroupKeys
  readonly #replication: WriteConfirmation

  constructor({ redis, keys, replication }: PayloadRepositoryDeps) {
    this.#redis = redis
    this.#keys = createGroupKeys(keys)
    this.#replication = replication
  }

  /** Writes a payload that expires unless `keep` is called. */
  async write(
    ref: EpochOfRun,
    blobs: PayloadBlobs,
    token = randomBytes(TOKEN_BYTES).toString('base64url'),
  ): Promise<StoredPayload> {
    const { texts, arrays } = blobs
    const keys = this.#getKeys(ref, token)
    const write = (key: string, value: Buffer) =>
      runOnScriptConnection(this.#redis, (connection) => connection.set(key, value, 'PX', PAYLOAD_EXPIRY_MS))
    const writes = [write(keys.texts, texts)]
    if (arrays.byteLength > 0) writes.push(write(keys.arrays, arrays))
    await Promise.all(writes)
    return { token, textBytes: texts.byteLength, arrayBytes: arrays.byteLength }
  }

  /** Removes the expiry of a payload. Returns false if the payload does not exist. */
  async keep(ref: EpochOfRun, { token, arrayBytes }: StoredPayload): Promise<boolean> {
    const { texts, arrays } = this.#getKeys(ref, token)
    const kept = await Promise.all((arrayBytes > 0 ? [texts, arrays] : [texts]).map((key) => this.#keepKey(key)))
    return kept.every(Boolean)
  }

  /** Returns the texts of a payload that no longer expires, or null if a part of it does not exist. */
  async getKeptTexts(ref: EpochOfRun, { token, arrayBytes }: StoredPayload): Promise<Buffer | null> {
    const { texts, arrays } = this.#getKeys(ref, token)
    const [bytes, areArraysKept] = await Promise.all([
      this.#redis.getexBuffer(texts, 'PERSIST'),
      arrayBytes === 0 || this.#ensureKeptKey(arrays),
    ])
    return areArraysKept ? bytes : null
  }

  /** Deletes a payload that belongs to no group. If that fails, it expires. */
  async discard(ref: EpochOfRun, { token }: StoredPayload): Promise<void> {
    await this.#unlink(this.#getKeys(ref, token)).catch(() => {})
  }

  async getTexts(ref: EpochOfRun, { token }: StoredPayload): Promise<Buffer | null> {
    return this.#redis.getBuffer(this.#getKeys(ref, token).texts)
  }

  async getArrays(ref: EpochOfRun, { token, arrayBytes }: StoredPayload): Promise<Buffer | null> {
    return arrayBytes > 0 ? this.#redis.getBuffer(this.#getKeys(ref, token).arrays) : null
  }

  /**
   * Deletes what scripts have released. It does not reject: the sweep repeats what fails. `releases` are entries of the
   * list of released payloads, as `parts/release-payloads.lua` writes them.
   */
  async release(ref: EpochOfRun, releases: readonly string[]): Promise<void> {
    await this.#releaseAll(ref, releases, this.#replication.mark()).catch(() => {}) // the entries stay in the list
  }

  /** Deletes released payloads that a process has left behind. Returns their number, at most that of one step. */
  async sweep(ref: EpochOfRun): Promise<number> {
    const { releasedPayloads } = this.#keys.forRun(ref.run, ref.epoch)
    const mark = this.#replication.mark()
    const left = await this.#redis.srandmember(releasedPayloads, CHUNK_SIZE)
    await this.#releaseAll(ref, left, mark)
    return left.length
  }

  /** Deletes all payloads of an ended epoch, before its records are deleted. It can be repeated, or stopped by `signal`. */
  async removeAll(ref: EpochOfRun, signal?: AbortSignal): Promise<void> {
    await this.#replication.confirm(this.#replication.mark()) // a replica that takes over must know that the epoch has ended
    const keys = this.#keys.forRun(ref.run, ref.epoch)
    const { allGroups, retainedTexts, releasedPayloads } = keys
    for (let cursor = ''; cursor !== '0' && !signal?.aborted; ) {
      const [next, flat] = await this.#redis.zscan(allGroups, cursor || '0', 'COUNT', CHUNK_SIZE)
      cursor = next
      const ids = flat.filter((_, k) => k % 2 === 0)
      const payloads = await Promise.all(
        ids.map((id) => this.#redis.hget(keys.group(id), groupRecord.constants.payload)),
      )
      await this.#unlinkAll(
        ref,
        payloads.flatMap((payload) => (payload === null ? [] : [parsePayload(payload).token])),
      )
    }
    for await (const entries of this.#listEntries(retainedTexts, releasedPayloads)) {
      if (signal?.aborted) return
      await this.#unlinkAll(
        ref,
        entries.map((entry) => entry.split(' ')[1] ?? ''),
      )
    }
  }

  /** Yields what a list and a set contain, some at a time. */
  async *#listEntries(list: string, set: string): AsyncGenerator<string[]> {
    const length = await this.#redis.llen(list)
    for (let k = 0; k < length; k += CHUNK_SIZE) yield this.#redis.lrange(list, k, k + CHUNK_SIZE - 1)
    for (let cursor = ''; cursor !== '0'; ) {
      const [next, members] = await this.#redis.sscan(set, cursor || '0', 'COUNT', CHUNK_SIZE)
      yield members
      cursor = next
    }
  }

  async #unlinkAll(ref: EpochOfRun, tokens: string[]): Promise<void> {
    await Promise.all(tokens.map((token) => this.#unlink(this.#getKeys(ref, token))))
  }

  async #keepKey(key: string): Promise<boolean> {
    // 0 also means that the key does not expire
    return (await this.#redis.persist(key)) === 1 || (await this.#redis.exists(key)) === 1
  }

  /** Like `#keepKey`, for a key that was probably kept before. */
  async #ensureKeptKey(key: string): Promise<boolean> {
    const ttl = await this.#redis.pttl(key)
    return ttl === NO_EXPIRY || (ttl !== NO_KEY && this.#keepKey(key))
  }

  /** A replica that takes over without the list would still need the payloads, so the list is replicated first. */
  async #releaseAll(ref: EpochOfRun, entries: readonly string[], mark: ReplicationMark): Promise<void> {
    if (entries.length === 0) return
    await this.#replication.confirm(mark)
    await Promise.all(entries.map((entry) => this.#releaseOne(ref, entry)))
    await this.#redis.srem(this.#keys.forRun(ref.run, ref.epoch).releasedPayloads, ...entries)
  }

  async #releaseOne(ref: EpochOfRun, entry: string): Promise<void> {
    const [part, token = ''] = entry.split(' ')
    const keys = this.#getKeys(ref, token)
    if (part === 'all') return this.#unlink(keys)
    await Promise.all([this.#redis.unlink(keys.arrays), this.#redis.pexpire(keys.texts, RETIRED_TEXT_EXPIRY_MS)])
  }

  async #unlink({ texts, arrays }: PayloadKeys): Promise<void> {
    await Promise.all([this.#redis.unlink(texts), this.#redis.unlink(arrays)]) // in different slots
  }

  #getKeys({ run, epoch }: EpochOfRun, token: string): PayloadKeys {
    return this.#keys.forPayload(run, epoch, token)
  }
}

interface SweepPayloadsDeps {
  index: Pick<RunIndex, 'listToSweep'>
  runs: RunRepository
  payloads: PayloadRepository
  log: Logger
}

/** Deletes what processes that died have released in all runs. Running it twice at once is harmless. */
export async function sweepPayloads({ index, runs, payloads, log }: SweepPayloadsDeps): Promise<void> {
  await sweepEach(log, await index.listToSweep(), async (run) => {
    const epoch = (await runs.get(run))?.epoch
    if (epoch === undefined) return
    while ((await payloads.sweep({ run, epoch })) === CHUNK_SIZE);
  })
}

/** For the removal of ended epochs: the payloads, which only the records of the groups name. */
export function listEpochPayloads(deps: PayloadRepositoryDeps): ListEpochKeys {
  const payloads = new PayloadRepository(deps)
  return (run, epoch) => ({
    keys: [],
    indexes: [],
    removeElsewhere: (signal) => payloads.removeAll({ run, epoch }, signal),
  })
}

export function formatPayload({ token, textBytes, arrayBytes }: StoredPayload): string {
  return `${token}:${textBytes}:${arrayBytes}`
}

export function parsePayload(text: string): StoredPayload {
  const [token = '', textBytes, arrayBytes] = text.split(':')
  return { token, textBytes: Number(textBytes), arrayBytes: Number(arrayBytes) }
}
