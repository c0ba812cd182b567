/** Every environment variable of the server, with its values, default and meaning. docs/reference/environment.md lists them. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter, resolve } from 'node:path'
import { ConfigError, readEnvironment } from '@reasoning-gym-server/contract/dot-env'
import { ClientVariables, parseEnvironment } from '@reasoning-gym-server/contract/environment'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { type RedisTls, readRedisTls } from './redis/redis-tls.ts'
import { parseRedisAddress } from './redis/redis-url.ts'
import { TelemetryVariables } from './telemetry/telemetry-variables.ts'

const GIB = 1024 ** 3
const CPU_COUNT = availableParallelism()
/** A single Redis saturates before this many API processes and workers do: docs/design/performance.md. */
const MAX_PROCESSES = 16

/** A default that depends on the machine. The words stand in docs/reference/environment.md, which is the same everywhere. */
interface ComputedDefault {
  value: number
  words: string
}

/** HTTP takes most of the time: one API process per core, and half as many workers. */
const DEFAULT_API_PROCESSES: ComputedDefault = {
  value: Math.min(MAX_PROCESSES, CPU_COUNT),
  words: `number of cores, at most ${MAX_PROCESSES}`,
}
const DEFAULT_WORKERS: ComputedDefault = {
  value: Math.max(1, Math.floor(DEFAULT_API_PROCESSES.value / 2)),
  words: 'half the default of `API_PROCESSES`, at least 1',
}
const DEFAULT_PYTHON_WORKERS: ComputedDefault = { value: Math.min(2, CPU_COUNT), words: '2, or 1 on a single core' }

/** Only stop runaway clients: 10,000 requests a second, and the bandwidth of a fast network. */
export const DEFAULT_LIMITS_WITH_KEYS = { requests: 600_000, bytes: 16 * GIB }

/** Whether it has a default depends on whether there are keys: see http/rate-limit.ts. */
const rateLimit = (withKeys: string) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .meta({ defaultInWords: `${withKeys} with API keys, none without` })
/** A comma-separated list; each word must pass. */
const commaSeparatedList = (passes: (word: string) => boolean, what: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((word) => word.trim()))
    .refine((words) => words.every(passes), what)
    .default([])
const isAddressOrNetwork = (word: string) => ipaddr.isValid(word) || ipaddr.isValidCIDR(word)
/** A host name without scheme, port or path. Text of only digits and dots is an IP address or invalid. */
const HOST_NAME_PATTERN = /^(?![\d.]+$)\w[\w.-]{0,252}$/
const isOrigin = (word: string) => word === '*' || (URL.canParse(word) && new URL(word).origin === word)

const countWithDefault = (least: number, value: number) => z.coerce.number().int().min(least).default(value)
const countWithComputedDefault = (least: number, { value, words }: ComputedDefault) =>
  countWithDefault(least, value).meta({ defaultInWords: words })

/** The first place of TASKS_PATH that is a path and does not exist. The names of modules are looked up later. */
function findMissingPlace(places: string): string | undefined {
  return places.split(delimiter).find((place) => (place.includes('/') || place.startsWith('.')) && !existsSync(place))
}

export const EnvironmentSchema = z.object({
  ...ClientVariables,
  WORKER_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65535)
    .default(8001)
    .describe('Port for the probes and metrics of `npm run worker`.'),
  DATA_DIR: z.string().min(1).default('./data').describe('Directory for the private Redis and the dump files.'),
  REDIS_URL: z
    .string()
    .min(1)
    .superRefine((text, context) => {
      try {
        parseRedisAddress(text)
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'cannot be read' })
      }
    })
    .optional()
    .describe(
      'Address of your own Redis (6.2 or newer, with an append-only file and the policy `noeviction`): `redis://`, `rediss://`, `redis+cluster://`, `redis+sentinel://`, or the path of a socket. If it is not set, `npm start` runs a private Redis that writes everything to disk before it replies.',
    ),
  REDIS_TLS_CA_FILE: z
    .string()
    .optional()
    .describe('For `rediss://`: PEM file with the CA certificate of Redis. If it is not set, the CAs of Node apply.'),
  REDIS_TLS_CERT_FILE: z
    .string()
    .optional()
    .describe('For `rediss://`: PEM file with the client certificate of this server.'),
  REDIS_TLS_KEY_FILE: z
    .string()
    .optional()
    .describe('For `rediss://`: PEM file with the private key of the client certificate.'),
  REDIS_TLS_SERVERNAME: z
    .string()
    .optional()
    .describe(
      'For `rediss://`: name expected in the certificate of Redis. If it is not set, the host of `REDIS_URL` applies.',
    ),
  REDIS_PREFIX: z
    .string()
    .regex(/^[\w-]{1,40}$/)
    .default('rgs')
    .describe('Prefix of all Redis keys. Servers with different prefixes can share one Redis.'),
  REDIS_REPLICAS: z.coerce
    .number()
    .int()
    .min(0)
    .max(9)
    .default(0)
    .describe(
      'Number of replicas of each Redis master that must have a write before the server replies. Until they have it, calls that write get 503 `redis_unavailable`. With 0, a failover can lose the last accepted groups.',
    ),
  API_KEYS: z
    .string()
    .optional()
    .describe(
      'API keys as `ROLE:KEY`, separated by commas. Without keys, the server accepts calls from this machine only, and every caller is an admin.',
    ),
  API_KEYS_FILE: z
    .string()
    .optional()
    .describe('File with API keys, one per line; `#` starts a comment. The server reads it again when it changes.'),
  RATE_LIMIT: rateLimit(DEFAULT_LIMITS_WITH_KEYS.requests.toLocaleString('en')).describe(
    'Maximum number of requests per minute for each key, or for each address if there are no keys.',
  ),
  BYTE_RATE_LIMIT: rateLimit(`${DEFAULT_LIMITS_WITH_KEYS.bytes / GIB} GiB`).describe(
    'Maximum number of body bytes per minute for each key, or for each address if there are no keys.',
  ),
  MAX_ACTIVE_EVALS: countWithDefault(1, 32).describe(
    'Maximum number of queued and running evals and collections for each key.',
  ),
  ANONYMOUS_RATE_LIMIT: countWithDefault(1, 6000).describe(
    'Maximum number of requests per minute from an address without a valid key, on a server with keys.',
  ),
  CORS_ORIGINS: commaSeparatedList(
    isOrigin,
    'must be origins such as https://example.org, separated by commas, or *',
  ).describe('Origins whose pages may call the API, separated by commas, or `*` for all.'),
  TRUST_PROXY: commaSeparatedList(
    isAddressOrNetwork,
    'must be addresses or networks such as 10.0.0.0/8, separated by commas',
  ).describe('Addresses and networks of proxies whose `X-Forwarded-For` header is trusted, separated by commas.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe(
      'Least severe level that is logged. In a terminal, `npm start` shows its progress and a summary, then warnings and errors; if you set a level, it shows the log instead.',
    ),
  API_PROCESSES: countWithComputedDefault(1, DEFAULT_API_PROCESSES).describe(
    'Number of HTTP processes that `npm start` runs.',
  ),
  WORKERS: countWithComputedDefault(0, DEFAULT_WORKERS).describe('Number of worker processes that `npm start` runs.'),
  SMALL: z
    .stringbool()
    .default(false)
    .describe(
      'For a laptop or a small machine: `true` makes `npm start` run one process that is both API and worker. `API_PROCESSES` and `WORKERS` then have no effect.',
    ),
  // Redis syncs concurrent writes to disk together. With only 16 groups in flight, it waits for the disk, and so do the workers.
  WORKER_CONCURRENCY: countWithDefault(1, 64).describe('Number of groups that one worker processes at once.'),
  JOB_LOCK_S: countWithDefault(2, 30).describe(
    'Time in seconds after which another worker takes the jobs of a worker that was killed. A worker that is blocked for longer loses its jobs in the same way: each result still counts once, but the work is done twice.',
  ),
  TASKS_PATH: z
    .string()
    .refine((places) => findMissingPlace(places) === undefined, {
      error: ({ input }) => `there is neither a file nor a folder ${findMissingPlace(String(input))}`,
    })
    .optional()
    .describe(
      'Your custom tasks: folders, Python files or names of importable modules, separated by colons. Each module calls `register_dataset` of the library.',
    ),
  WATCH_TASKS: z
    .stringbool()
    .default(false)
    .describe('For development: `true` reads `TASKS_PATH` again when its files change.'),
  PYTHON_WORKERS: countWithComputedDefault(1, DEFAULT_PYTHON_WORKERS).describe(
    'Number of Python workers in each process while there is work: this many for scoring, and as many again for making items.',
  ),
  SCORE_DEADLINE_MS: countWithDefault(50, 2000).describe('Timeout for scoring one answer, in milliseconds.'),
  MAKE_DEADLINE_MS: countWithDefault(50, 10000).describe('Timeout for making one item, in milliseconds.'),
  ANSWER_MAX_CHARS: countWithDefault(1, 65536).describe(
    'Maximum length of an answer in Unicode code points. Longer answers get the fault `answer_too_long`.',
  ),
  DUMPS_MAX_BYTES: countWithDefault(0, 10 * GIB).describe(
    'Maximum size of all dumps together, waiting and on disk, in bytes. Above it, groups are scored but not dumped.',
  ),
  DUMP_IDLE_FLUSH_S: countWithDefault(1, 300).describe(
    'Seconds without a new group after which a dump file is written even if it is not full.',
  ),
  EVAL_OUTPUTS_MAX_BYTES: countWithDefault(0, 2 * GIB).describe(
    'Maximum size of the stored completions of all evals in Redis, compressed, in bytes. Above it, samples are scored, but only their verdicts are stored.',
  ),
  MODEL_HOSTS: z
    .string()
    .default('')
    .transform((text) => text.split(/[\s,]+/).filter(Boolean))
    .superRefine((words, context) => {
      const wrong = words.find((word) => !isAddressOrNetwork(word) && !HOST_NAME_PATTERN.test(word))
      if (wrong !== undefined)
        context.addIssue({
          code: 'custom',
          message: `"${wrong}" is not a host, an address or a range such as 10.0.0.0/8`,
        })
    })
    .describe(
      'Hosts, addresses and ranges in loopback or private networks that evals may call, separated by commas: `vllm.internal, 10.0.0.0/8`.',
    ),
  MODEL_CONCURRENCY: countWithDefault(1, 64).describe(
    'Maximum number of requests to models that one worker has in flight.',
  ),
  BUFFER_MAX_BYTES: countWithDefault(1, 4 * GIB).describe(
    'Maximum size of the queued and buffered groups of all runs in Redis, in bytes. Above it, new groups are rejected with 429 `buffer_full`.',
  ),
  LARGE_BODIES: countWithDefault(1, 8).describe(
    'Maximum number of request bodies over 64 KiB that one API process holds at once. Further ones wait if they have a Content-Length and do not begin in tiny chunks; what gets no place is rejected with 503 `server_busy`.',
  ),
  LARGE_REPLIES: countWithDefault(1, 16).describe(
    'Maximum number of replies over 256 KiB that one API process holds at once. Further ones wait and are then rejected with 503 `server_busy`.',
  ),
  SLOW_CLIENT_S: z.coerce
    .number()
    .min(0.1)
    .default(10)
    .describe(
      'Time for slow clients. While other large bodies or replies wait, the server drops a client that moves less than 64 KiB per second in a quarter of this time. The others wait for up to three times as long.',
    ),
  ENGINE_PYTHON: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Python interpreter that already has the packages of requirements.txt. The server then creates no virtual environment. `pip install reasoning-gym-server` sets it.',
    ),
  PYTHON: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Python interpreter that the virtual environment is created with. If it is not set, the newest Python on the `PATH` that is at least 3.11 is used.',
    ),
  ...TelemetryVariables,
})

/** The environment variables, parsed, with absolute paths. */
export type ServerConfig = z.infer<typeof EnvironmentSchema>

/** Reads `.env`, if it exists, and the environment. Throws a ConfigError that names every invalid variable. */
export function readConfig(environment: NodeJS.ProcessEnv = readEnvironment()): ServerConfig {
  const config = parseEnvironment(EnvironmentSchema, environment)
  return { ...config, DATA_DIR: resolve(config.DATA_DIR) }
}

/** Where Redis is, for a process that does not start its own. */
export function requireRedisConfig(config: ServerConfig): { url: string; prefix: string; tls: RedisTls | undefined } {
  const { REDIS_URL: url, REDIS_PREFIX: prefix } = config
  if (!url)
    throw new ConfigError(
      'REDIS_URL is not set. Set it to the address of your Redis; only `npm start` runs one of its own.',
    )
  return { url, prefix, tls: requireRedisTls(config) }
}

/** TLS options for Redis; undefined if no TLS variable is set. */
export function requireRedisTls(config: ServerConfig): RedisTls | undefined {
  try {
    return readRedisTls(config.REDIS_URL, config)
  } catch (error) {
    throw error instanceof TypeError ? new ConfigError(error.message) : error
  }
}
