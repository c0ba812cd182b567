/** The environment, read once. Nothing else in the project reads `process.env`. */
import { existsSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { resolve } from 'node:path'
import { loadEnvFile } from 'node:process'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { type RedisTls, readRedisTls } from './redis/redis-tls.ts'
import { parseRedisAddress } from './redis/redis-url.ts'

const CPU_COUNT = availableParallelism()
/** One Redis is at its end before so many API processes and workers are: docs/design/performance.md. */
const MAX_PROCESSES = 16
/** HTTP is what most of the time goes to: as many as there are cores, and half as many workers beside them. */
const DEFAULT_API_PROCESSES = Math.min(MAX_PROCESSES, CPU_COUNT)
const DEFAULT_WORKERS = Math.max(1, Math.floor(DEFAULT_API_PROCESSES / 2))
/** What this process may use: of a container its limit. */
const MEMORY_BYTES = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
const MIB = 1024 ** 2
/** A share of the memory for each API process, in whole MiB. */
const shareOfMemory = (parts: number, leastMib: number, mostMib: number) =>
  MIB * Math.round(Math.min(mostMib, Math.max(leastMib, MEMORY_BYTES / parts / DEFAULT_API_PROCESSES / MIB)))
const optionalLimit = (what: string) => z.coerce.number().int().min(1).optional().describe(what)
/** Words, comma-separated, each of which must pass. */
const commaSeparatedList = (passes: (word: string) => boolean, what: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((word) => word.trim()))
    .refine((words) => words.every(passes), what)
    .default([])
const isAddressOrNetwork = (word: string) => ipaddr.isValid(word) || ipaddr.isValidCIDR(word)
/** Without scheme, port or path; what is all digits and dots is an address, or none. */
const HOST_NAME_PATTERN = /^(?![\d.]+$)\w[\w.-]{0,252}$/
const isOrigin = (word: string) => word === '*' || (URL.canParse(word) && new URL(word).origin === word)

const countWithDefault = (least: number, value: number) => z.coerce.number().int().min(least).default(value)

export const EnvironmentSchema = z.object({
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on'),
  PORT: z.coerce.number().int().min(0).max(65535).default(8000).describe('Port to listen on'),
  ORS_PORT: z.coerce
    .number()
    .int()
    .min(1)
    .max(65535)
    .optional()
    .describe('Port of the environments for openreward and TRL’s OpenRewardSpec (ORS); none: not served'),
  WORKER_PORT: z.coerce.number().int().min(0).max(65535).default(8001).describe('Probes of a worker-only process'),
  DATA_DIR: z.string().min(1).default('./data').describe('Where the private Redis and the dumps live'),
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
      'redis://…, rediss://…, redis+cluster://…, redis+sentinel://… or the path of a socket; none: a private one',
    ),
  REDIS_TLS_CA_FILE: z
    .string()
    .optional()
    .describe('For rediss: the certificate of the CA that signed the one of Redis, PEM; none: the CAs of Node'),
  REDIS_TLS_CERT_FILE: z
    .string()
    .optional()
    .describe('For rediss: the certificate that this server shows to Redis, PEM'),
  REDIS_TLS_KEY_FILE: z.string().optional().describe('Its private key, PEM'),
  REDIS_TLS_SERVERNAME: z
    .string()
    .optional()
    .describe('For rediss: the name to look for in the certificate of Redis; none: the host of the address'),
  REDIS_PREFIX: z
    .string()
    .regex(/^[\w-]{1,40}$/)
    .default('rgs')
    .describe('What all keys begin with'),
  API_KEYS: z
    .string()
    .optional()
    .describe('`role:key`, comma-separated; without keys only this machine may call, and everyone is admin'),
  API_KEYS_FILE: z.string().optional().describe('A file of keys, one a line; read again when it changes'),
  RATE_LIMIT: optionalLimit(
    'Requests a minute of one key, or without keys of one address; 600,000 with keys, else none',
  ),
  BYTE_RATE_LIMIT: optionalLimit('Bytes of bodies a minute, likewise; 16 GiB with keys, else none'),
  MAX_ACTIVE_EVALS: countWithDefault(1, 32).describe('Evals and collections of one key that are queued or running'),
  ANONYMOUS_RATE_LIMIT: countWithDefault(1, 6000).describe('Requests a minute of an address without a valid key'),
  CORS_ORIGINS: commaSeparatedList(isOrigin, 'write origins such as https://example.org, or *').describe(
    'Sites whose pages may call, comma-separated',
  ),
  TRUST_PROXY: commaSeparatedList(isAddressOrNetwork, 'write addresses or networks such as 10.0.0.0/8').describe(
    'Proxies whose X-Forwarded-For is believed, comma-separated',
  ),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  API_PROCESSES: countWithDefault(1, DEFAULT_API_PROCESSES).describe('HTTP processes of `npm start`'),
  WORKERS: countWithDefault(0, DEFAULT_WORKERS).describe('Worker processes of `npm start`'),
  // Redis puts what comes together on disk together: with 16 in hand it waits for the disk, and with it the workers do.
  WORKER_CONCURRENCY: countWithDefault(1, 64).describe('Groups that one worker has in hand at once'),
  PYTHON_WORKERS: countWithDefault(1, Math.min(2, CPU_COUNT)).describe(
    'Python hosts for scoring, and as many for making, in each process',
  ),
  SCORE_DEADLINE_MS: countWithDefault(50, 2000).describe('What scoring one answer may take'),
  MAKE_DEADLINE_MS: countWithDefault(50, 10000).describe('What making one item may take'),
  ANSWER_MAX_CHARS: countWithDefault(1, 65536).describe('Code points of an answer; above: `answer_too_long`'),
  DUMPS_MAX_BYTES: countWithDefault(0, 10 * 1024 ** 3).describe(
    'Bytes of all dumps together; above, groups are not dumped',
  ),
  DUMP_IDLE_FLUSH_S: countWithDefault(1, 300).describe(
    'Seconds without a new group after which a partial dump file is written',
  ),
  MODEL_HOSTS: z
    .string()
    .default('')
    .transform((text) => text.split(/[\s,]+/).filter(Boolean))
    .superRefine((words, context) => {
      const wrong = words.find((word) => !isAddressOrNetwork(word) && !HOST_NAME_PATTERN.test(word))
      if (wrong !== undefined)
        context.addIssue({ code: 'custom', message: `${wrong}: write hosts, addresses or ranges such as 10.0.0.0/8` })
    })
    .describe('Hosts, addresses and ranges of models for evals that may be loopback or private, comma-separated'),
  MODEL_CONCURRENCY: countWithDefault(1, 64).describe('Requests to models that one worker has in flight at once'),
  BUFFER_MAX_BYTES: countWithDefault(1, 4 * 1024 ** 3).describe(
    'Groups that wait in Redis, all runs together: bytes of their payload',
  ),
  BODIES_MAX_BYTES: countWithDefault(MIB, shareOfMemory(64, 16, 64)).describe(
    'Large request bodies that one API process holds at once: bytes of what has arrived, decompressed',
  ),
  REPLIES_MAX_BYTES: countWithDefault(MIB, shareOfMemory(32, 32, 256)).describe(
    'Large replies that one API process holds at once: bytes of what clients have yet to take',
  ),
  SLOW_CLIENT_S: z.coerce
    .number()
    .min(0.1)
    .default(10)
    .describe(
      'Seconds that a client may send a large body too slowly; less, also for large replies, while others wait for the memory',
    ),
  OPENENV_MAX_SOCKETS: countWithDefault(1, 8192).describe(
    'Connections of OpenEnv clients that one API process has at once',
  ),
  OPENENV_IDLE_S: z.coerce
    .number()
    .min(1)
    .default(7200)
    .describe('Seconds without a message after which the connection of an OpenEnv client is closed'),
  PYTHON: z
    .string()
    .min(1)
    .optional()
    .describe('The Python to build the environment with; none: the newest of 3.11 and up on the PATH'),
  SERVER_URL: z
    .url()
    .optional()
    .describe('The server that the command line calls; none: the one here, or one it starts'),
  SERVER_API_KEY: z.string().min(1).optional().describe('The key that the command line calls it with'),
  MODEL_API_KEY: z.string().min(1).optional().describe('The key of the model that the command line measures'),
})

/** The settings of the process, with absolute paths. */
export type ServerConfig = z.infer<typeof EnvironmentSchema>

/** Reads a `.env` file where there is one, then the environment; the error names every value that cannot be read. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): ServerConfig {
  if (environment === process.env && existsSync('.env')) loadEnvFile('.env')
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = EnvironmentSchema.safeParse(given)
  if (!parsed.success) {
    const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    throw new ConfigError(`Cannot read the settings: ${wrong.join('; ')}`)
  }
  return { ...parsed.data, DATA_DIR: resolve(parsed.data.DATA_DIR) }
}

/** The environment for a child: this one's, with changes. */
export function buildChildEnvironment(changes: Record<string, string>): NodeJS.ProcessEnv {
  return { ...process.env, ...changes }
}

/** What a command line says stands above the environment. */
export function overrideEnvironment(changes: Record<string, string | number | undefined>): void {
  for (const [name, value] of Object.entries(changes)) if (value !== undefined) process.env[name] = String(value)
}

/** Where Redis is, for a process that does not start one. */
export function requireRedisConfig(config: ServerConfig): { url: string; prefix: string; tls: RedisTls | undefined } {
  const { REDIS_URL: url, REDIS_PREFIX: prefix } = config
  if (!url) throw new ConfigError('Set REDIS_URL: only `npm start` brings a Redis of its own')
  return { url, prefix, tls: requireRedisTls(config) }
}

/** Undefined if nothing is set beyond the address. */
export function requireRedisTls(config: ServerConfig): RedisTls | undefined {
  try {
    return readRedisTls(config.REDIS_URL, config)
  } catch (error) {
    throw error instanceof TypeError ? new ConfigError(error.message) : error
  }
}

export class ConfigError extends Error {}
