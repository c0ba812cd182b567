/** Operations that must reach every master if Redis is a cluster, and the check whether Redis accepts writes. */
import { Cluster, type Redis } from 'ioredis'
import type { RedisKeys } from './keys.ts'

/** The servers that hold keys: the single Redis, or the masters of the cluster. */
export function listMasters(redis: Redis): Redis[] {
  const cluster = asCluster(redis)
  return cluster ? cluster.nodes('master') : [redis]
}

/** Resolves when every master has replied. */
export async function pingMasters(redis: Redis): Promise<void> {
  await Promise.all(listMasters(redis).map((node) => node.ping()))
}

/** Rejects with the reason if any part of Redis is unavailable. */
export async function assertRedisHealthy(redis: Redis): Promise<void> {
  await pingMasters(redis)
  const cluster = asCluster(redis)
  if (!cluster) return
  const state = /cluster_state:(\w+)/.exec(String(await cluster.cluster('INFO')))?.[1]
  if (state !== 'ok') throw new Error(`the Redis cluster's state is ${state}: a master is missing`)
}

function asCluster(redis: unknown): Cluster | undefined {
  return redis instanceof Cluster ? redis : undefined
}

/** More than enough to find a key for each of some hundred masters. */
const MAX_KEYS = 4096

interface MasterKey {
  master: Redis
  key: string
}

/** Finds a key that each master owns, for writes that must reach every master. */
export class MasterKeys {
  readonly #prefix: string
  /** Hash slots of the keys 0, 1, 2, … in a cluster, computed as needed. */
  readonly #slots: number[] = []

  /** Keys are `prefix:NUMBER`. */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** Returns the single Redis with a key, or every master of the cluster that has slots with a key in one of them. */
  async find(redis: Redis): Promise<MasterKey[]> {
    const cluster: unknown = redis
    if (!(cluster instanceof Cluster)) return [{ master: redis, key: this.#keyOf(0) }]
    const masters = new Map(cluster.nodes('master').map((node) => [`${node.options.host}:${node.options.port}`, node]))
    const missing = new Set(cluster.slots.flatMap(([master]) => master ?? []))
    const found: MasterKey[] = []
    for (let number = 0; missing.size > 0 && number < MAX_KEYS; number++) {
      const slot = this.#slots[number] ?? Number(await cluster.cluster('KEYSLOT', this.#keyOf(number)))
      this.#slots[number] = slot
      const name = cluster.slots[slot]?.[0] ?? ''
      const master = masters.get(name)
      if (missing.delete(name) && master) found.push({ master, key: this.#keyOf(number) })
    }
    return found
  }

  #keyOf(number: number): string {
    return `${this.#prefix}:${number}`
  }
}

/** Each process writes at most once per second, however many callers check. */
const MAX_AGE_MS = 1000
const KEY_EXPIRY_MS = 10_000

/**
 * Writes a key that expires, as a request would write its group. Only a write detects every reason for a rejection, including
 * those of later Redis versions; a check of memory and roles would have to repeat the logic of Redis.
 */
export class WriteProbe {
  readonly #redis: Redis
  readonly #masterKeys: MasterKeys
  #last: { at: number; result: Promise<void> } | undefined

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#masterKeys = new MasterKeys(keys.key('write-probe'))
  }

  /** Rejects with the reason if a master rejects writes. The result is at most a second old. */
  check(): Promise<void> {
    const now = performance.now()
    if (!this.#last || now - this.#last.at > MAX_AGE_MS) this.#last = { at: now, result: this.#write() }
    return this.#last.result
  }

  async #write(): Promise<void> {
    const masterKeys = await this.#masterKeys.find(this.#redis)
    const writes = masterKeys.map(({ key }) => this.#redis.set(key, '', 'PX', KEY_EXPIRY_MS))
    await Promise.all(writes).catch((error: Error) => {
      throw new Error(`Redis takes no writes: ${error.message}`, { cause: error })
    })
  }
}
