/** What a test owns: a service on the real library and the real Redis, under a key prefix of its own. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Item } from '@reasoning-gym-server/contract/item'
import type { Redis } from 'ioredis'
import { pino } from 'pino'
import { inject } from 'vitest'
import { createEngineOptions } from '../src/engine/create-engine.ts'
import type { Engine } from '../src/engine/engine.ts'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { schedulePrefetch } from '../src/features/runs/jobs.ts'
import { createRunKeys } from '../src/features/runs/records.ts'
import type { App } from '../src/http/app.ts'
import { DEFAULT_HTTP_TIMEOUTS } from '../src/http/connections/http-timeouts.ts'
import type { HttpOptions } from '../src/http/server.ts'
import { type ApiService, composeApi } from '../src/main/compose.ts'
import { createApp } from '../src/main/create-app.ts'
import { startWorker } from '../src/main/start-worker.ts'
import type { Closable } from '../src/platform/closers.ts'
import { readConfig, type ServerConfig } from '../src/platform/environment.ts'
import { createLogger } from '../src/platform/log.ts'
import { listMasters } from '../src/platform/redis/cluster.ts'
import { connectForWorkers, waitUntilReady } from '../src/platform/redis/connect.ts'
import type { RedisKeys } from '../src/platform/redis/keys.ts'
import { formatChannel } from '../src/platform/redis/notifications.ts'
import type { RedisTls } from '../src/platform/redis/redis-tls.ts'
import type { Tracing } from '../src/platform/telemetry/tracing.ts'
import { startWaiting } from '../verification/support/wait.ts'

export const SHARED = new URL('../../shared/', import.meta.url).pathname

/** An answer that a Python worker never finishes scoring: sympy's simplify is not bounded. */
export const HANGING = {
  task: 'simple_integration',
  answer: [...'xXyYzZaAbBcCdDeEfFgGhH']
    .map((v) => `(sin(${v})+cos(${v})+tan(${v})+${v}**2)**9/(exp(${v})+log(${v})+${v}**7)**9`)
    .concat('asinh(x)') // a name that is left to sympy
    .join('+'),
}

export interface Answer {
  status: number
  headers: Record<string, unknown>
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where it is not there
  body: any
}

type Call = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>

export interface World extends Pick<ApiService, 'platform' | 'engine' | 'features'> {
  app: App
  prefix: string
  call: Call
  /** Starts a worker in this process; it is closed with the world. */
  startWorker(): void
  stopWorkers(): Promise<void>
  close(): Promise<void>
}

const DEFAULTS: ServerConfig = {
  ...readConfig({}),
  WORKER_CONCURRENCY: 8,
  DUMPS_MAX_BYTES: 1024 ** 3,
  DUMP_IDLE_FLUSH_S: 3600,
  EVAL_OUTPUTS_MAX_BYTES: 1024 ** 3,
  MODEL_CONCURRENCY: 16,
  BUFFER_MAX_BYTES: 1024 ** 3,
}

interface Options extends Partial<ServerConfig>, HttpOptions {
  worker?: boolean
  prefix?: string
  python?: string
  redisUrl?: string
  redisTls?: RedisTls
  onLog?: (line: string) => void
  tracing?: Tracing
}

/**
 * Of the worlds of this process that configure none of its options: to fork Python workers for each world took
 * as much processor time as all the rest of it.
 */
let sharedEngine: Engine | undefined

function getSharedEngine(): Engine {
  if (!sharedEngine) {
    const engine = new PythonEngine(createEngineOptions(DEFAULTS, inject('python')))
    sharedEngine = engine
    process.once('SIGTERM', () => void engine.close().finally(() => process.exit())) // how vitest ends this process
  }
  return sharedEngine
}

const ENGINE_OPTIONS = ['TASKS_PATH', 'PYTHON_WORKERS', 'SCORE_DEADLINE_MS', 'MAKE_DEADLINE_MS'] as const

export async function openWorld({
  worker = false,
  redisUrl = inject('redisUrl'),
  redisTls,
  prefix = `t${randomUUID().slice(0, 8)}`,
  python = inject('python'),
  onLog,
  tracing,
  keyRing,
  rateLimiter,
  corsOrigins = [],
  trustProxy = [],
  timeouts = DEFAULT_HTTP_TIMEOUTS,
  maxConnections,
  ...config
}: Options = {}): Promise<World> {
  const log = onLog ? createLogger('info', 'test', { write: onLog }) : pino({ level: 'silent' })
  const folder = mkdtempSync(join(tmpdir(), 'rgs-world-'))
  const ownsEngine = python !== inject('python') || ENGINE_OPTIONS.some((name) => name in config)
  const service = composeApi({
    config: { ...DEFAULTS, DATA_DIR: folder, ...config },
    redis: { url: redisUrl, prefix, tls: redisTls },
    python,
    engine: ownsEngine ? undefined : getSharedEngine(),
    log,
    tracing,
  })
  const { platform, engine, features } = service
  const workers: Closable[] = []
  const start = () => void workers.push(startWorker(service))
  const stop = async () => {
    for (const worker of workers.splice(0)) await worker.close()
  }
  await Promise.all([
    waitUntilReady(platform.redis, 60_000), // on a busy machine
    until(
      async () => engine.health(),
      ({ ok, detail }) => ok || detail !== 'the library is starting',
      60_000,
    ),
  ])
  await features.tasks.loadRegistry()
  if (worker) start()
  const app = await createApp(service, { keyRing, rateLimiter, corsOrigins, trustProxy, timeouts, maxConnections })
  const call: Call = async (method, url, body, headers = {}) => {
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    const response = await app.inject({
      method,
      url,
      headers: { ...json, ...headers },
      ...(payload !== undefined && { payload }),
    })
    const parsed = response.body === '' ? undefined : JSON.parse(response.body)
    return { status: response.statusCode, headers: response.headers, body: parsed }
  }
  return {
    app,
    platform,
    engine,
    features,
    prefix,
    call,
    startWorker: start,
    stopWorkers: stop,
    async close() {
      await app.close()
      await stop()
      await service.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Does the work, and resolves once Redis has published a notification that begins with the topic. Times out. */
export async function waitForNotification(keys: RedisKeys, topic: string, work: () => Promise<unknown>): Promise<void> {
  const subscriber = connectForWorkers({ url: inject('redisUrl'), prefix: '' })
  try {
    const received: string[] = []
    subscriber.on('message', (_channel, message: string) => received.push(message))
    await subscriber.subscribe(formatChannel(keys))
    await work()
    await until(
      async () => received,
      (list) => list.some((message) => message.startsWith(topic)),
    )
  } finally {
    subscriber.disconnect()
  }
}

/** Polls until the value is as wanted: a test waits for a fact, never for a time. The longer it takes, the less often it polls. */
export async function until<T>(read: () => Promise<T>, isDone: (value: T) => boolean, timeoutMs = 40_000): Promise<T> {
  for (const waiting = startWaiting(); ; ) {
    const value = await read()
    if (isDone(value)) return value
    const waited = waiting()
    if (waited > timeoutMs) throw new Error(`timed out: ${JSON.stringify(value).slice(0, 2000)}`)
    await new Promise((resolve) => setTimeout(resolve, Math.min(500, 50 + waited / 20)))
  }
}

/** Takes the next items of a run: on a busy machine, not all are made within the time of one call. */
export async function takeItems({ call }: Pick<World, 'call'>, run: string, count: number): Promise<Item[]> {
  const items: Item[] = []
  await until(
    async () => {
      const body = { run, count: count - items.length }
      const answer = await call('POST', '/items', body, { prefer: 'wait=30' })
      if (![200, 503].includes(answer.status)) throw new Error(JSON.stringify(answer.body))
      items.push(...(answer.body.items ?? []))
    },
    () => items.length >= count,
  )
  return items
}

/** Waits until a worker has made the next items of a run, since a late one would be passed over. */
export async function untilMadeAhead({ platform, features }: World, run: string, count: number): Promise<void> {
  const { redis, keys, producer } = platform
  const { epoch } = await features.runs.runs.require(run)
  const { openPositions, itemBodies } = createRunKeys(keys).forRun(run, epoch)
  await until(
    async () => {
      await schedulePrefetch(producer, { name: run, epoch }) // a job that is just ending makes no more
      const next = await redis.zrange(openPositions, '0', String(count - 1))
      return next.length === 0 ? [] : await redis.hmget(itemBodies, ...next)
    },
    (bodies) => bodies.length === count && !bodies.includes(null),
  )
}

/** Takes items in the order of the run's sequence. */
export async function takeInOrder(world: World, run: string, count: number): Promise<Item[]> {
  const items: Item[] = []
  while (items.length < count) {
    const size = Math.min(16, count - items.length)
    await untilMadeAhead(world, run, size)
    items.push(...(await takeItems(world, run, size)))
  }
  return items
}

/** The names of all keys that match, on whichever node they lie. */
export async function keysOf(redis: Redis, pattern: string): Promise<string[]> {
  const found: string[] = []
  for (const node of listMasters(redis)) {
    let cursor = '0'
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', 1000)
      found.push(...keys)
      cursor = next
    } while (cursor !== '0')
  }
  return found
}

/** Deletes what a test without a world has stored under its prefix. */
export async function deleteKeys(redis: Redis, prefix: string): Promise<void> {
  for (const key of await keysOf(redis, `*${prefix}*`)) await redis.unlink(key)
}
