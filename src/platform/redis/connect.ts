/** Connections to Redis. */
import { Cluster, type Redis, type RedisOptions } from 'ioredis'
import { ServiceError } from '../../contract/errors.ts'
import { parseRedisAddress, type RedisAddress } from './redis-url.ts'
import { ScriptPoolRedis, WriteBatchingRedis } from './script-connections.ts'

/** Where Redis is, as `readAddress` reads it, and what every key begins with. */
export interface RedisConfig {
  url: string
  prefix: string
}

/** A Redis that is stuck is as good as away to probes and scrapes, which themselves are waited for no longer than 10 s. */
export const PROBE_TIMEOUT_MS = 2000

/** What a request cannot wait for fails at once, so that the client hears of it. */
const FAIL_FAST_OPTIONS: OfflineOptions = { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 10_000 }

/** For requests; scripts have their own connections. */
export function connectForRequests({ url }: RedisConfig): Redis {
  return connect(url, ScriptPoolRedis, FAIL_FAST_OPTIONS)
}

/** To look whether Redis is there. */
export function connectForProbe(url: string): Redis {
  return connect(url, WriteBatchingRedis, FAIL_FAST_OPTIONS)
}

/** For workers and subscriptions: waits until Redis is back. */
export function connectForWorkers({ url }: RedisConfig): Redis {
  return connect(url, WriteBatchingRedis, { maxRetriesPerRequest: null })
}

type OfflineOptions = Pick<RedisOptions, 'enableOfflineQueue' | 'maxRetriesPerRequest' | 'commandTimeout'>

function connect(url: string, Connection: typeof WriteBatchingRedis, waiting: OfflineOptions): Redis {
  const redis = createClient(parseRedisAddress(url), Connection, waiting)
  redis.on('error', () => {}) // a lost connection is met by the command that needs it, and by /readyz
  return redis
}

const retryStrategy = (tries: number) => Math.min(50 * tries, 1000)

function createClient(
  address: RedisAddress,
  Connection: typeof WriteBatchingRedis,
  { enableOfflineQueue = true, ...options }: OfflineOptions,
): Redis {
  if (address.kind === 'one') return new Connection(address.url, { ...options, enableOfflineQueue, retryStrategy })
  const { nodes, tls, username, password } = address
  const access = { ...(username && { username }), ...(password && { password }), ...(tls && { tls: {} }) }
  if (address.kind === 'sentinel') {
    return new Connection({
      ...options,
      ...access,
      sentinels: nodes,
      name: address.master,
      db: address.db,
      ...(address.sentinelPassword && { sentinelPassword: address.sentinelPassword }),
      enableTLSForSentinelMode: tls,
      failoverDetector: true,
      sentinelRetryStrategy: retryStrategy,
      enableOfflineQueue,
      retryStrategy,
    })
  }
  const cluster = new Cluster(nodes, {
    enableOfflineQueue,
    redisOptions: { ...options, ...access },
    clusterRetryStrategy: retryStrategy,
    clusterNodeRetryStrategy: retryStrategy,
    // Over TLS the certificate is checked against the node's name, which must then not be resolved first.
    ...(tls && { dnsLookup: (host, found) => found(null, host) }),
  })
  return cluster as unknown as Redis // it takes the same commands as one Redis; what it does not is in nodes.ts
}

/** The answer of Redis, or `redis_unavailable` where it does not come within `timeoutMs`. */
export async function withRedisTimeout<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new ServiceError('redis_unavailable', `Redis did not answer within ${timeoutMs} ms`)),
    timeoutMs,
  )
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves when the connection can be used; rejects after `timeoutMs`. */
export async function waitUntilReady(redis: Redis, timeoutMs: number): Promise<void> {
  if (redis.status === 'ready') return
  const { promise, resolve } = Promise.withResolvers<void>()
  redis.once('ready', resolve)
  try {
    await withRedisTimeout(timeoutMs, promise)
  } finally {
    redis.off('ready', resolve)
  }
}
