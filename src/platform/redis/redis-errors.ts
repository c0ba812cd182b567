/**
 * Translates errors of Redis, ioredis and the socket into errors of the API, and says since when Redis has not answered: the
 * driver's messages mean nothing to a reader.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Cluster, Redis } from 'ioredis'

/** The errors have no common code, so a part of the message identifies them. Text is compared without case. */
type MessagePart = string | RegExp

interface Outage {
  messages: MessagePart[]
  /** What Redis replies, in words; undefined if it does not reply. */
  reply?: string
}

/** Redis at maxmemory: for a command, and for a script. */
const FULL_MESSAGES: MessagePart[] = ['OOM command not allowed', 'OOM allow-oom flag is not set']

const CLUSTER_MESSAGES: MessagePart[] = [
  'CLUSTERDOWN',
  'TRYAGAIN',
  'access a non local key', // scripts of BullMQ in a moving slot
  /^(MOVED|ASK) \d/,
  'EXECABORT',
  'cluster redirections',
  'slots cache',
  'startup nodes',
]

const NO_CONNECTION_MESSAGES: MessagePart[] = [
  'Connection is closed',
  "isn't ready and enableOfflineQueue",
  "Stream isn't writeable",
  'max retries per request',
  'Command timed out',
]

const OUTAGES: Outage[] = [
  { messages: ['LOADING'], reply: 'is still loading its data' },
  { messages: ['MASTERDOWN', 'READONLY'], reply: 'is a replica, which takes no writes' },
  { messages: ['NOREPLICAS'], reply: 'has too few replicas to take writes' },
  { messages: ['MISCONF'], reply: 'takes no writes, because it cannot save its data to disk' },
  { messages: ['BUSY Redis is busy'], reply: 'is busy with a script' }, // for longer than its busy-reply-threshold
  { messages: [/^(NOAUTH|NOPERM|WRONGPASS) /], reply: 'rejects the user or the password of the server' },
  { messages: CLUSTER_MESSAGES, reply: 'is failing over or moving slots' },
  { messages: ['All sentinels'] },
  { messages: NO_CONNECTION_MESSAGES },
  { messages: ['certificate', 'SSL routines', 'Protocol error, got'] }, // TLS that fails, or that only one side uses
  { messages: ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT'] },
]

const FULL_DETAIL =
  'Redis has reached its memory limit. Data that was accepted before is safe. Retry, or give Redis more memory.'

const SOCKET_SYSTEM_CALLS: readonly unknown[] = ['connect', 'read', 'write']

/** An error of Redis as a `ServiceError`; any other error unchanged. */
export function translateRedisError(error: unknown): unknown {
  if (!mayComeFromRedis(error)) return error
  if (saysOneOf(error, FULL_MESSAGES)) return new ServiceError('redis_full', FULL_DETAIL, { cause: error })
  const outage = findOutage(error)
  return outage ? new ServiceError('redis_unavailable', describe(outage), { cause: error }) : error
}

/** Whether the error only says that there is no reply. */
export function isRedisOutage(error: unknown): boolean {
  const outage = mayComeFromRedis(error) ? findOutage(error) : undefined
  return outage !== undefined && outage.reply === undefined
}

/** Excludes errors that already have one of our codes, and missing files, whose message also has ENOENT. */
function mayComeFromRedis(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof ServiceError) return false
  const { syscall } = error as NodeJS.ErrnoException // undefined unless the system raised it
  return syscall === undefined || SOCKET_SYSTEM_CALLS.includes(syscall)
}

function findOutage(error: Error): Outage | undefined {
  return OUTAGES.find(({ messages }) => saysOneOf(error, messages))
}

function saysOneOf({ message }: Error, parts: MessagePart[]): boolean {
  const lowerCase = message.toLowerCase()
  return parts.some((part) => (typeof part === 'string' ? lowerCase.includes(part.toLowerCase()) : part.test(message)))
}

/** Says what is wrong in our own words, without those of the driver. */
function describe({ reply }: Outage): string {
  return reply === undefined ? `${describeOutage()}. Retry.` : `${nameRedis()} ${reply}. Retry.`
}

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
function nameRedis(): string {
  const endpoint = findMostSilent()
  return endpoint ? `Redis at ${endpoint.address}` : 'Redis'
}

function findMostSilent(): Endpoint | undefined {
  const silence = ({ lastAnswerAt = Number.NEGATIVE_INFINITY }: Endpoint) => lastAnswerAt
  return [...endpoints.values()].toSorted((a, b) => silence(a) - silence(b))[0]
}
