/** Says in words that Redis does not answer, and since when: the driver's messages mean nothing to a reader. */
import type { Cluster, Redis } from 'ioredis'

/** A Redis that this process uses. */
interface Endpoint {
  address: string
  /** Last time at which a reply arrived, in milliseconds of `performance.now()`; undefined before the first. */
  lastAnswerAt: number | undefined
  connections: number
}

const MS_PER_MINUTE = 60_000
const endpoints = new Map<string, Endpoint>()
const endpointOf = new WeakMap<Redis, Endpoint>()

/** Notes when replies arrive on the connection. `address` must not contain credentials. */
export function watchAnswers(redis: Redis, address: string): void {
  const endpoint = endpoints.get(address) ?? { address, lastAnswerAt: undefined, connections: 0 }
  endpoints.set(address, endpoint)
  endpointOf.set(redis, endpoint)
  endpoint.connections++
  redis.once('end', () => {
    endpoint.connections--
    if (endpoint.connections === 0) endpoints.delete(address)
  })
  const watch = (node: Redis) => watchConnection(node, endpoint)
  if (redis.isCluster) (redis as unknown as Cluster).on('+node', watch)
  else watch(redis)
}

function watchConnection(redis: Redis, endpoint: Endpoint): void {
  let wasReady = false
  const note = () => {
    endpoint.lastAnswerAt = performance.now()
  }
  redis.on('connect', () => redis.stream?.on('data', note))
  redis.on('ready', () => {
    wasReady = true
  })
  redis.on('close', () => {
    if (wasReady) note() // an idle connection was alive until now
    wasReady = false
  })
}

/** Such as "Redis at 127.0.0.1:6379 has not answered for 12 s". Without a connection: the Redis that is silent longest. */
export function describeOutage(redis?: Redis, now = performance.now()): string {
  const endpoint = redis ? endpointOf.get(redis) : findMostSilent()
  if (!endpoint) return 'Redis does not answer'
  const { address, lastAnswerAt = now } = endpoint
  const ms = now - lastAnswerAt
  if (ms < 1000) return `Redis at ${address} does not answer`
  const time = ms < 2 * MS_PER_MINUTE ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / MS_PER_MINUTE)} min`
  return `Redis at ${address} has not answered for ${time}`
}

/** The address for messages: `Redis at 127.0.0.1:6379`. */
export function nameRedis(): string {
  const endpoint = findMostSilent()
  return endpoint ? `Redis at ${endpoint.address}` : 'Redis'
}

function findMostSilent(): Endpoint | undefined {
  const silence = ({ lastAnswerAt = Number.NEGATIVE_INFINITY }: Endpoint) => lastAnswerAt
  return [...endpoints.values()].toSorted((a, b) => silence(a) - silence(b))[0]
}
