/** Stores an Atropos store in Redis: one script accepts groups, and others turn them into batches. */
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { redisNow } from '../../../platform/redis/redis-clock.ts'
import { defineScript } from '../../../platform/redis/scripts.ts'
import type { QueuedGroup } from './compose.ts'
import { createStoreKeys, type StoreKeys } from './keys.ts'
import { storeRecord } from './store-record.ts'
import { Environment, type Registration } from './wire.ts'

const folder = import.meta.dirname
const constants = { STORE: storeRecord.constants }
const acceptGroups = defineScript({
  ...{ folder, constants, name: 'accept-groups' },
  keys: ['store', 'queue', 'entries', 'counts', 'unanswered'],
})
const nextBatch = defineScript({
  ...{ folder, constants, name: 'next-batch' },
  keys: ['store', 'queue', 'entries', 'batches', 'leases'],
})
const composeBatch = defineScript({
  ...{ folder, constants, name: 'compose-batch' },
  keys: ['store', 'queue', 'entries', 'counts', 'batches', 'leases'],
})
const finishBatch = defineScript({ folder, constants, name: 'finish-batch', keys: ['store', 'batches', 'leases'] })
const resetStore = defineScript({
  ...{ folder, constants, name: 'reset-store' },
  keys: ['store', 'environments', 'heard', 'queue', 'entries', 'counts', 'batches', 'leases', 'unanswered'],
})

/** Limit on the groups of a store; the script allows more if they are small. */
export const MAX_STORE_GROUPS = 4096
/** Number of oldest groups from which a batch is chosen. */
const MAX_READ_GROUPS = 8192
/** Time after which unused stores, and groups that no trainer takes, are deleted. */
const KEEP_MS = 30 * 24 * 3600 * 1000
/** Time for which a digest is kept, long after an environment gives up on its submission. */
const UNANSWERED_MS = 15 * 60 * 1000
/** Time without a renewal of the lease by the sending process after which a batch is offered again. */
export const LEASE_MS = 15_000

export interface PackedGroup {
  sequences: number
  environment: number | null
  packed: Buffer
  jsonBytes: number
}

/** A group of a batch. */
export interface BatchMember {
  id: string
  storedBytes: number
  jsonBytes: number
}

/** A batch that is composed but not delivered. */
export interface OpenBatch {
  id: string
  groups: BatchMember[]
}

export type NextBatch =
  | { kind: 'unregistered' }
  | { kind: 'insufficient' }
  | { kind: 'batch'; batch: OpenBatch }
  | { kind: 'queue'; lastBatch: string; queue: QueuedGroup[] }

/** State of a store without its groups. */
export interface StoreState {
  store: ReturnType<typeof storeRecord.parse>
  environments: Map<number, Environment & { heardAt: number }>
  /** Number of queued groups, by environment and size. */
  counts: { environment: number | null; sequences: number; groups: number }[]
}

export class StoreRepository {
  readonly #redis: Redis
  readonly #keys: StoreKeys

  constructor(redis: Redis, keys: RedisKeys, run: string | null) {
    this.#redis = redis
    this.#keys = createStoreKeys(keys, run)
  }

  async read(): Promise<StoreState> {
    const { store, environments, heard, counts } = this.#keys
    const [fields, described, times, counted] = await Promise.all(
      [store, environments, heard, counts].map((key) => this.#redis.hgetall(key)),
    )
    return {
      store: storeRecord.parse(fields ?? {}),
      environments: new Map(
        Object.entries(described ?? {}).map(([id, json]) => [
          Number(id),
          { ...Environment.parse(JSON.parse(json)), heardAt: Number(times?.[id] ?? 0) },
        ]),
      ),
      counts: Object.entries(counted ?? {}).map(([name, groups]) => {
        const [environment = '', sequences] = name.split(':')
        return {
          environment: environment === '' ? null : Number(environment),
          sequences: Number(sequences),
          groups: Number(groups),
        }
      }),
    }
  }

  async readStore(): Promise<StoreState['store']> {
    return storeRecord.parse(await this.#redis.hgetall(this.#keys.store))
  }

  /** Registers a trainer. The step continues from that of an earlier trainer unless this one is ahead. */
  async register(registration: Registration): Promise<void> {
    const { store } = this.#keys
    const { registration: field, step } = storeRecord.constants
    const before = Number((await this.#redis.hget(store, step)) ?? 0)
    await this.#redis.hset(store, {
      [field]: JSON.stringify(registration),
      [step]: Math.max(before, registration.starting_step),
    })
    await this.#redis.pexpire(store, KEEP_MS)
  }

  /** Returns the environment's number and how many earlier ones have asked for its name. */
  async addEnvironment(
    desiredName: string,
    environment: Omit<Environment, 'name'>,
  ): Promise<{ id: number; name: string }> {
    const { store, environments, heard } = this.#keys
    const { last_environment, names } = storeRecord.constants
    const id = (await this.#redis.hincrby(store, last_environment, 1)) - 1
    const name = `${desiredName}_${(await this.#redis.hincrby(store, names + desiredName, 1)) - 1}`
    await this.#redis.hset(heard, id, redisNow())
    await this.#redis.hset(environments, id, JSON.stringify({ ...environment, name }))
    await Promise.all([heard, environments].map((key) => this.#redis.pexpire(key, KEEP_MS)))
    return { id, name }
  }

  async updateEnvironment(id: number, environment: Environment): Promise<void> {
    await this.#redis.hset(this.#keys.environments, id, JSON.stringify(environment))
  }

  async noteHeard(id: number): Promise<void> {
    await this.#redis.hset(this.#keys.heard, id, redisNow())
  }

  async accept(
    groups: PackedGroup[],
    digest: string,
    limits: { batchSize: number; maxBytes: number },
  ): Promise<'accepted' | 'repeated' | 'full'> {
    const params = {
      now: redisNow(),
      digest,
      unanswered_ms: UNANSWERED_MS,
      max_groups: MAX_STORE_GROUPS,
      max_bytes: limits.maxBytes,
      batch_size: limits.batchSize,
      keep_ms: KEEP_MS,
      group_prefix: this.#keys.groupPrefix,
      groups: groups.map(({ sequences, environment, packed, jsonBytes }) => ({
        sequences,
        environment: environment === null ? '' : String(environment),
        bytes: packed.byteLength,
        json_bytes: jsonBytes,
      })),
    }
    const outcome = await acceptGroups(this.#redis, this.#keys, [
      JSON.stringify(params),
      ...groups.map(({ packed }) => packed),
    ])
    return outcome as 'accepted' | 'repeated' | 'full' // as its contract says
  }

  /** Forgets a submission whose answer was sent, so that an equal one counts as new. */
  async noteAnswered(digest: string): Promise<void> {
    await this.#redis.zrem(this.#keys.unanswered, digest)
  }

  async takeNextBatch(): Promise<NextBatch> {
    const params = { now: redisNow(), lease_ms: LEASE_MS, max_groups: MAX_READ_GROUPS }
    const reply = await nextBatch(this.#redis, this.#keys, [JSON.stringify(params)])
    const [kind, ...rest] = reply as [string, ...string[]] // as its contract says
    if (kind === 'batch') return { kind, batch: parseBatch(rest) }
    if (kind === 'unregistered' || kind === 'insufficient') return { kind }
    const [lastBatch = '0', ...pairs] = rest
    const queue = Array.from({ length: pairs.length / 2 }, (_, k) => parseEntry(pairs[2 * k], pairs[2 * k + 1]))
    return { kind: 'queue', lastBatch, queue }
  }

  /** Composes a batch. Returns undefined if another call changed the queue. */
  async compose(lastBatch: string, groups: QueuedGroup[]): Promise<OpenBatch | undefined> {
    const params = {
      now: redisNow(),
      lease_ms: LEASE_MS,
      last_batch: lastBatch,
      groups: groups.map(({ id }) => id),
      keep_ms: KEEP_MS,
    }
    const reply = await composeBatch(this.#redis, this.#keys, [JSON.stringify(params)])
    const [kind, ...rest] = reply as [string, ...string[]] // as its contract says
    return kind === 'batch' ? parseBatch(rest) : undefined
  }

  async renewLease(batch: string): Promise<void> {
    await this.#redis.zadd(this.#keys.leases, 'XX', redisNow() + LEASE_MS, batch)
  }

  /** Offers a batch whose answer was not sent to the next call. */
  async offerAgain(batch: string): Promise<void> {
    await this.#redis.zadd(this.#keys.leases, 'XX', 0, batch)
  }

  async finish(batch: string): Promise<void> {
    await finishBatch(this.#redis, this.#keys, [batch, this.#keys.groupPrefix])
  }

  async readGroup(id: string): Promise<Buffer | null> {
    return this.#redis.getBuffer(this.#keys.groupPrefix + id)
  }

  async reset(): Promise<void> {
    await resetStore(this.#redis, this.#keys, [this.#keys.groupPrefix])
  }
}

function parseBatch([id = '', json = '[]']: string[]): OpenBatch {
  const groups = JSON.parse(json) as [string, number, number][] // written by compose-batch
  return { id, groups: groups.map(([group, storedBytes, jsonBytes]) => ({ id: group, storedBytes, jsonBytes })) }
}

function parseEntry(id = '', entry = ''): QueuedGroup {
  const [sequences, environment, acceptedAt] = entry.split('|')
  return {
    id,
    sequences: Number(sequences),
    environment: environment === '' ? null : Number(environment),
    acceptedAt: Number(acceptedAt),
  }
}
