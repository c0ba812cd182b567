/** Translates errors of Redis, ioredis and the socket into errors of the API. */
import { ServiceError } from '../../contract/errors.ts'

type RedisErrorCode = 'redis_full' | 'redis_unavailable'

/** The errors have no common code, so a part of the message identifies them. Text is compared without case. */
const ERROR_MESSAGES: { code: RedisErrorCode; source: string; messages: (string | RegExp)[] }[] = [
  {
    code: 'redis_full',
    source: 'Redis at maxmemory: for a command, and for a script',
    messages: ['OOM command not allowed', 'OOM allow-oom flag is not set'],
  },
  {
    code: 'redis_unavailable',
    source: 'Redis that is loading its data, is a replica, has too few replicas, or cannot write to its disk',
    messages: ['LOADING', 'MASTERDOWN', 'READONLY', 'NOREPLICAS', 'MISCONF'],
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

const DETAILS: Record<RedisErrorCode, string> = {
  redis_full:
    'Redis has reached its memory limit. Data that was accepted before is safe. Retry, or give Redis more memory.',
  redis_unavailable: 'Redis cannot be reached. Retry.',
}

const SOCKET_SYSTEM_CALLS: readonly unknown[] = ['connect', 'read', 'write']

/** An error of Redis as a `ServiceError`; any other error unchanged. */
export function translateRedisError(error: unknown): unknown {
  const code = error instanceof Error && mayComeFromRedis(error) ? classifyRedisError(error.message) : undefined
  return code === undefined ? error : new ServiceError(code, DETAILS[code], { cause: error })
}

/** Excludes errors that already have one of our codes, and missing files, whose message also has ENOENT. */
function mayComeFromRedis(error: Error): boolean {
  const { syscall } = error as NodeJS.ErrnoException // undefined unless the system raised it
  return !(error instanceof ServiceError) && (syscall === undefined || SOCKET_SYSTEM_CALLS.includes(syscall))
}

function classifyRedisError(message: string): RedisErrorCode | undefined {
  const lowerCase = message.toLowerCase()
  const matches = (part: string | RegExp) =>
    typeof part === 'string' ? lowerCase.includes(part.toLowerCase()) : part.test(message)
  return ERROR_MESSAGES.find(({ messages }) => messages.some(matches))?.code
}
