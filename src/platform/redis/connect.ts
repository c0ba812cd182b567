/** Connections to Redis. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Redis, RedisOptions } from 'ioredis'
import { describeOutage, watchAnswers } from './redis-errors.ts'
import { CLOSED_BY_REDIS, explainConnectionError, NO_HANDSHAKE, type RedisTls, usesTls } from './redis-tls.ts'
import { formatRedisAddress, parseRedisAddress, type RedisAddress } from './redis-url.ts'
import { ScriptCluster, ScriptPoolRedis, WriteBatchingRedis } from './script-connections.ts'
import { FailoverSentinelConnector } from './sentinel-connector.ts'

/** The address of Redis, as `parseRedisAddress` reads it, and the prefix of every key. */
export interface RedisConfig {
  url: string
  prefix: string
  tls?: RedisTls | undefined
}

type RedisEndpoint = Omit<RedisConfig, 'prefix'>

/** Probes and scrapes treat a Redis that hangs as unavailable; their own callers wait 10 s at most. */
export const PROBE_TIMEOUT_MS = 2000

/** Requests fail fast, so that the client gets an error instead of waiting. */
const FAIL_FAST_OPTIONS: OfflineOptions = { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 10_000 }

/** A connection for requests. Scripts have their own connections. */
export function connectForRequests(endpoint: RedisConfig): Redis {
  return connect(endpoint, ScriptPoolRedis, FAIL_FAST_OPTIONS)
}

/** A connection for checks of availability. */
export function connectForProbe(endpoint: RedisEndpoint): Redis {
  return connect(endpoint, WriteBatchingRedis, FAIL_FAST_OPTIONS)
}

/** A connection for workers and subscriptions, which waits until Redis is available again. */
export function connectForWorkers(endpoint: RedisConfig): Redis {
  return connect(endpoint, WriteBatchingRedis, { maxRetriesPerRequest: null })
}

type OfflineOptions = Pick<RedisOptions, 'enableOfflineQueue' | 'maxRetriesPerRequest' | 'commandTimeout'>

/** Why each connection is not ready. */
const connectionErrors = new WeakMap<Redis, Error>()

function connect(
  { url, tls }: RedisEndpoint,
  Connection: typeof WriteBatchingRedis,
  offlineOptions: OfflineOptions,
): Redis {
  const redis = createClient(parseRedisAddress(url), tls, Connection, offlineOptions)
  watchAnswers(redis, formatRedisAddress(url))
  if (usesTls(url)) connectionErrors.set(redis, new Error(NO_HANDSHAKE))
  redis.on('error', (error) => connectionErrors.set(redis, error)) // commands and /readyz report a lost connection
  redis.on('ready', () => connectionErrors.delete(redis))
  redis.on('close', () => {
    const { message = NO_HANDSHAKE } = connectionErrors.get(redis) ?? {}
    if (message === NO_HANDSHAKE) connectionErrors.set(redis, new Error(CLOSED_BY_REDIS))
  })
  return redis
}

/** Says since when Redis has not answered and why, in one line; undefined if there is a connection. */
export function getConnectionIssue(redis: Redis): string | undefined {
  const error = connectionErrors.get(redis)
  return error && `${describeOutage(redis)}: ${explainConnectionError(error)}`
}

/** Timeout of one Sentinel. A Sentinel often fails together with the master, on the same machine. */
const SENTINEL_CONNECT_TIMEOUT_MS = 3000

const retryStrategy = (attempt: number) => Math.min(50 * attempt, 1000)

const MIN_RECONNECT_INTERVAL_MS = 10_000
const reconnectedAt = new WeakMap<object, number>()

/**
 * After a failover behind one address, such as a virtual IP, connections stay with the former master, which takes no writes. ioredis
 * calls this with the options of a connection, which are its own. In between, reads of a real replica go on.
 */
function leaveFormerMaster(this: object, { message }: Error): boolean {
  const now = performance.now()
  const lastAt = reconnectedAt.get(this) ?? Number.NEGATIVE_INFINITY
  // Redis 6 puts the words of a script before it.
  if (!message.includes('READONLY') || now - lastAt < MIN_RECONNECT_INTERVAL_MS) return false
  reconnectedAt.set(this, now)
  return true
}

function createClient(
  address: RedisAddress,
  tlsOptions: RedisTls | undefined,
  Connection: typeof WriteBatchingRedis,
  { enableOfflineQueue = true, ...options }: OfflineOptions,
): Redis {
  const secured = tlsOptions && { tls: tlsOptions }
  if (address.kind === 'one') {
    const reconnectOnError = leaveFormerMaster
    return new Connection(address.url, { ...options, ...secured, enableOfflineQueue, retryStrategy, reconnectOnError })
  }
  const { nodes, tls, username, password } = address
  const access = { ...(username && { username }), ...(password && { password }), ...(tls && { tls: {}, ...secured }) }
  if (address.kind === 'sentinel') {
    return new Connection({
      ...options,
      ...access,
      sentinels: nodes,
      name: address.master,
      db: address.db,
      ...(address.sentinelPassword && { sentinelPassword: address.sentinelPassword }),
      enableTLSForSentinelMode: tls,
      ...(tls && { sentinelTLS: tlsOptions ?? {} }),
      Connector: FailoverSentinelConnector,
      failoverDetector: true,
      connectTimeout: SENTINEL_CONNECT_TIMEOUT_MS,
      sentinelCommandTimeout: PROBE_TIMEOUT_MS,
      sentinelRetryStrategy: retryStrategy,
      sentinelReconnectStrategy: retryStrategy,
      enableOfflineQueue,
      retryStrategy,
    })
  }
  const cluster = new ScriptCluster(nodes, {
    enableOfflineQueue,
    redisOptions: { ...options, ...access },
    clusterRetryStrategy: retryStrategy,
    clusterNodeRetryStrategy: retryStrategy,
    // Over TLS the certificate is checked against the node's name, which must then not be resolved first.
    ...(tls && { dnsLookup: (host, callback) => callback(null, host) }),
  })
  return cluster as unknown as Redis // it supports the same commands as a single Redis; cluster.ts has the exceptions
}

/** Returns the reply of Redis, or throws `redis_unavailable` if none arrives within `timeoutMs`. */
export async function withRedisTimeout<T>(timeoutMs: number, reply: Promise<T>, redis?: Redis): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new ServiceError('redis_unavailable', describeOutage(redis))), timeoutMs)
  try {
    return await Promise.race([reply, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves when the connection is ready; rejects after `timeoutMs`. */
export async function waitUntilReady(redis: Redis, timeoutMs: number): Promise<void> {
  if (redis.status === 'ready') return
  const { promise, resolve } = Promise.withResolvers<void>()
  redis.once('ready', resolve)
  try {
    await withRedisTimeout(timeoutMs, promise, redis)
  } catch (error) {
    const issue = getConnectionIssue(redis)
    throw issue === undefined ? error : new ServiceError('redis_unavailable', issue, { cause: error })
  } finally {
    redis.off('ready', resolve)
  }
}
