/** Translates errors of Redis, ioredis and the socket into errors of the API. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { describeSilence, nameRedis } from './redis-silence.ts'

type RedisErrorCode = 'redis_full' | 'redis_unavailable'

/** The errors have no common code, so a part of the message identifies them. Text is compared without case. */
interface ErrorSource {
  code: RedisErrorCode
  source: string
  messages: (string | RegExp)[]
  /** What Redis replies, in words; undefined if it does not reply. */
  reply?: string
}

const ERROR_MESSAGES: ErrorSource[] = [
  {
    code: 'redis_full',
    source: 'Redis at maxmemory: for a command, and for a script',
    messages: ['OOM command not allowed', 'OOM allow-oom flag is not set'],
  },
  {
    code: 'redis_unavailable',
    source: 'Redis that loads its data',
    messages: ['LOADING'],
    reply: 'is still loading its data',
  },
  {
    code: 'redis_unavailable',
    source: 'a replica',
    messages: ['MASTERDOWN', 'READONLY'],
    reply: 'is a replica, which takes no writes',
  },
  {
    code: 'redis_unavailable',
    source: 'a master without replicas',
    messages: ['NOREPLICAS'],
    reply: 'has too few replicas to take writes',
  },
  {
    code: 'redis_unavailable',
    source: 'Redis without a disk to write to',
    messages: ['MISCONF'],
    reply: 'takes no writes, because it cannot save its data to disk',
  },
  {
    code: 'redis_unavailable',
    source: 'a Redis Cluster that is failing over or moving slots',
    messages: [
      'CLUSTERDOWN',
      'TRYAGAIN',
      /^(MOVED|ASK) \d/,
      'EXECABORT',
      'cluster redirections',
      'slots cache',
      'startup nodes',
    ],
    reply: 'is failing over or moving slots',
  },
  { code: 'redis_unavailable', source: 'ioredis without a sentinel that answers', messages: ['All sentinels'] },
  {
    code: 'redis_unavailable',
    source: 'ioredis without a connection',
    messages: [
      'Connection is closed',
      "isn't ready and enableOfflineQueue",
      "Stream isn't writeable",
      'max retries per request',
      'Command timed out',
    ],
  },
  {
    code: 'redis_unavailable',
    source: 'TLS that fails, or that only one side uses',
    messages: ['certificate', 'SSL routines', 'Protocol error, got'],
  },
  {
    code: 'redis_unavailable',
    source: 'the socket',
    messages: ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT'],
  },
]

const FULL_DETAIL =
  'Redis has reached its memory limit. Data that was accepted before is safe. Retry, or give Redis more memory.'

const SOCKET_SYSTEM_CALLS: readonly unknown[] = ['connect', 'read', 'write']

/** An error of Redis as a `ServiceError`; any other error unchanged. */
export function translateRedisError(error: unknown): unknown {
  const found = error instanceof Error && mayComeFromRedis(error) ? classifyRedisError(error.message) : undefined
  return found === undefined ? error : new ServiceError(found.code, describeRedisError(found), { cause: error })
}

/** Whether the error only says that there is no reply. */
export function isRedisSilence(error: unknown): boolean {
  if (!(error instanceof Error) || !mayComeFromRedis(error)) return false
  const found = classifyRedisError(error.message)
  return found?.code === 'redis_unavailable' && found.reply === undefined
}

/** Excludes errors that already have one of our codes, and missing files, whose message also has ENOENT. */
function mayComeFromRedis(error: Error): boolean {
  const { syscall } = error as NodeJS.ErrnoException // undefined unless the system raised it
  return !(error instanceof ServiceError) && (syscall === undefined || SOCKET_SYSTEM_CALLS.includes(syscall))
}

/** Says what is wrong in our own words, without those of the driver. */
function describeRedisError({ code, reply }: ErrorSource): string {
  if (code === 'redis_full') return FULL_DETAIL
  return reply === undefined ? `${describeSilence()}. Retry.` : `${nameRedis()} ${reply}. Retry.`
}

function classifyRedisError(message: string): ErrorSource | undefined {
  const lowerCase = message.toLowerCase()
  const matches = (part: string | RegExp) =>
    typeof part === 'string' ? lowerCase.includes(part.toLowerCase()) : part.test(message)
  return ERROR_MESSAGES.find(({ messages }) => messages.some(matches))
}
