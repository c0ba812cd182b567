/**
 * Holds back replies until the replicas of Redis have what they tell, if REDIS_REPLICAS asks for it.
 *
 * Redis answers before its replicas have a write, so a replica that takes over may lack the last answered writes. A barrier
 * is a small write to every master and WAIT on the same connection. Replication keeps the order of writes, so the replicas
 * that have the barrier have everything that its master took before, whichever process sent it.
 *
 * Barriers have connections of their own, since WAIT blocks its connection. So it must be proven that a barrier reached the
 * master that took the writes, and not the replica that has taken over from it:
 *
 *   - A master draws a new replication ID when it takes over. Each connection for requests notes the ID of its master
 *     when it is ready. A barrier counts only if those IDs are the IDs of the masters that took the barrier.
 *   - Any change of these connections or IDs ends all marks that were set before it, and their calls fail.
 *
 * All processes that wait at the same time share one barrier.
 *
 * What the server writes leaves it in two ways, and each waits for a barrier:
 *
 *   - HTTP responses, including batches and streams: http/replicated-writes.ts.
 *   - Dump files: features/dumps/dumps.ts.
 *
 * Event streams, data sets and exports only read.
 */
import { promisify } from 'node:util'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { Cluster, type Redis } from 'ioredis'
import { listMasters, MasterKeys } from './cluster.ts'
import { readDurabilitySettings } from './durability.ts'
import type { RedisKeys } from './keys.ts'
import { ScriptPoolRedis } from './script-connections.ts'

/** Longer than a healthy replica takes for any write, shorter than the timeout of a client. */
const WAIT_TIMEOUT_MS = 2000
const KEY_EXPIRY_MS = 10_000

/** A point in time before the writes that a barrier confirms. */
export type ReplicationMark = number

/** What callers use. */
export type WriteConfirmation = Pick<Replication, 'replicas' | 'mark' | 'confirm'>

/** For REDIS_REPLICAS=0: what Redis has answered counts as written. */
export const NO_REPLICATION: WriteConfirmation = { replicas: 0, mark: () => 0, confirm: async () => {} }

interface Barrier {
  replicationId: string
  replicas: number
}

export class Replication {
  readonly replicas: number
  readonly #redis: Redis
  readonly #barrierRedis: Redis
  readonly #masterKeys: MasterKeys
  /** Replication ID of the master behind each connection for requests; undefined while the connection is lost. */
  readonly #masterIds = new Map<Redis, string | undefined>()
  /** Whether a master and its replicas sync their append-only files before they answer WAITAOF. */
  readonly #waitsForDisk = new WeakMap<Redis, boolean>()
  #changes = 0
  #current: Promise<Set<string>> | undefined
  #next: Promise<Set<string>> | undefined

  /** `redis` is the connection for requests. `barrierRedis` is another one to the same Redis, which is closed with this. */
  constructor(redis: Redis, barrierRedis: Redis, keys: RedisKeys, replicas: number) {
    this.#redis = redis
    this.#barrierRedis = barrierRedis
    this.#masterKeys = new MasterKeys(keys.key('barrier'))
    this.replicas = replicas
    const isPool = redis instanceof ScriptPoolRedis
    for (const connection of isPool ? redis.listConnections() : listMasters(redis)) this.#watch(connection)
    if ((redis as unknown) instanceof Cluster) redis.on('+node', (node: Redis) => this.#watch(node))
  }

  /** Call it before the first write. */
  mark(): ReplicationMark {
    return this.#changes
  }

  /**
   * Resolves when REDIS_REPLICAS replicas of every master have all that was answered before this call. Throws
   * `redis_unavailable` if they do not have it in time, or if a master may have changed since `mark`.
   */
  async confirm(mark: ReplicationMark): Promise<void> {
    this.#assertUnchanged(mark)
    const connections = await this.#listConnections()
    const masterIds = await this.#shareBarrier()
    this.#assertUnchanged(mark)
    const areCurrent = connections.every((connection) => masterIds.has(this.#masterIds.get(connection) ?? ''))
    if (areCurrent) return
    for (const connection of connections) void this.#noteMaster(connection)
    throw createError('a replica may have taken over')
  }

  close(): void {
    this.#barrierRedis.disconnect()
  }

  #assertUnchanged(mark: ReplicationMark): void {
    if (mark !== this.#changes) throw createError('a connection was lost, or a replica has taken over')
  }

  /** The connections that requests write through. */
  async #listConnections(): Promise<Redis[]> {
    if (this.#redis instanceof ScriptPoolRedis) return this.#redis.listConnections()
    return (await this.#masterKeys.find(this.#redis)).map(({ master }) => master)
  }

  /** A barrier that is on its way may have passed before the caller's writes, so callers share the next one. */
  #shareBarrier(): Promise<Set<string>> {
    if (!this.#current) return this.#start()
    this.#next ??= this.#current.then(
      () => this.#start(),
      () => this.#start(),
    )
    return this.#next
  }

  #start(): Promise<Set<string>> {
    this.#next = undefined
    const round = this.#sendBarriers()
    this.#current = round
    const end = () => {
      if (this.#current === round) this.#current = undefined
    }
    round.then(end, end)
    return round
  }

  async #sendBarriers(): Promise<Set<string>> {
    const barriers = await this.#masterKeys
      .find(this.#barrierRedis)
      .then((masterKeys) => Promise.all(masterKeys.map(({ master, key }) => this.#sendBarrier(master, key))))
      .catch(async (error: Error) => {
        await this.#findMasters()
        throw createError(error.message, error)
      })
    const fewest = Math.min(...barriers.map(({ replicas }) => replicas))
    if (!(fewest >= this.replicas))
      throw createError(`only ${fewest} of ${this.replicas} replicas have it after ${WAIT_TIMEOUT_MS / 1000} s`)
    return new Set(barriers.map(({ replicationId }) => replicationId))
  }

  /** Barriers go to a master directly, so no reply tells the cluster's client that another one owns the key. */
  async #findMasters(): Promise<void> {
    const redis: unknown = this.#barrierRedis
    if (redis instanceof Cluster) await promisify(redis.refreshSlotsCache.bind(redis))().catch(() => {}) // next time
  }

  async #sendBarrier(node: Redis, key: string): Promise<Barrier> {
    const waitsForDisk = this.#waitsForDisk.get(node) ?? (await this.#noteWhetherItWaitsForDisk(node))
    const pipeline = node.pipeline().set(key, '', 'PX', KEY_EXPIRY_MS)
    if (waitsForDisk) pipeline.call('WAITAOF', 1, this.replicas, WAIT_TIMEOUT_MS)
    else pipeline.wait(this.replicas, WAIT_TIMEOUT_MS)
    const replies = await pipeline.info('replication').exec()
    const failed = replies?.find(([error]) => error)?.[0]
    if (!replies || failed) throw failed ?? new Error('no reply')
    const [, [, counts], [, info]] = replies as [unknown, [null, number | [number, number]], [null, string]]
    return { replicationId: readMasterId(info) ?? '', replicas: Array.isArray(counts) ? counts[1] : counts }
  }

  async #noteWhetherItWaitsForDisk(node: Redis): Promise<boolean> {
    const { appendonly, appendfsync } = await readDurabilitySettings(node)
    const [command] = (await node.call('COMMAND', 'INFO', 'WAITAOF')) as unknown[] // null where there is none
    const waits = appendonly === 'yes' && appendfsync === 'always' && Array.isArray(command)
    this.#waitsForDisk.set(node, waits)
    node.once('close', () => this.#waitsForDisk.delete(node))
    return waits
  }

  #watch(connection: Redis): void {
    if (this.#masterIds.has(connection)) return
    this.#masterIds.set(connection, undefined)
    connection.on('ready', () => void this.#noteMaster(connection))
    connection.on('close', () => {
      this.#changes++
      this.#masterIds.set(connection, undefined)
    })
    connection.on('end', () => this.#masterIds.delete(connection))
    void this.#noteMaster(connection)
  }

  async #noteMaster(connection: Redis): Promise<void> {
    try {
      const id = readMasterId(await connection.info('replication'))
      if (id === this.#masterIds.get(connection)) return
      this.#changes++
      this.#masterIds.set(connection, id)
    } catch {} // noted when the connection is ready again
  }
}

/** The history of writes that a server has; undefined for a replica. */
function readMasterId(info: string): string | undefined {
  if (!/^role:master/m.test(info)) return undefined
  return /^master_replid:(\w+)/m.exec(info)?.[1]
}

function createError(reason: string, cause?: Error): ServiceError {
  const detail = `Redis may lose what this call wrote, since it is not replicated: ${reason}. Repeat the call.`
  return new ServiceError('redis_unavailable', detail, { cause })
}
