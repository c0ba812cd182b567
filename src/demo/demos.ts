/** Starts demos in an API process. A demo calls the server's own routes with the key of the request that started it. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Run } from '@reasoning-gym-server/contract/run'
import type { FastifyRequest } from 'fastify'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { StartDemo } from '../../routes/demo.ts'
import type { ItemRequests } from '../features/runs/item-requests.ts'
import type { App } from '../http/app.ts'
import { formatEntityTag } from '../http/request-headers.ts'
import type { Platform } from '../platform/platform.ts'
import type { RedisKeys } from '../platform/redis/keys.ts'
import { errorMessage } from '../platform/throttled-log.ts'
import { createDemoServer, type DemoAnswer, type DemoCall, DemoCallError, type DemoServer } from './demo-server.ts'
import { DEMO_SETTINGS, DEMO_TASKS, trainLearner } from './trainer.ts'

/** Forty steps take about forty seconds. */
const STEP_MS = 900
const CREDENTIAL_HEADERS = ['authorization', 'x-api-key'] as const
const CREATE_HEADERS = { 'if-none-match': '*' }

interface Training {
  run: string
  steps: number
  tasks: readonly string[]
  signal: AbortSignal
}

interface DemosDeps {
  app: App
  platform: Pick<Platform, 'redis' | 'keys' | 'log'>
  itemRequests: Pick<ItemRequests, 'reveal'>
}

export function createDemos({ app, platform, itemRequests }: DemosDeps): StartDemo {
  const { redis, keys, log } = platform
  const leases = new DemoLeases(redis, keys)
  const closing = new AbortController()
  const running = new Set<Promise<void>>()
  app.addHook('preClose', async () => {
    closing.abort()
    await Promise.all(running)
  })

  const connect = (request: FastifyRequest): DemoServer => {
    const send = (call: DemoCall) => sendToApp(app, call, request)
    return createDemoServer(send, (id) => itemRequests.reveal(id, undefined), closing.signal)
  }

  return async (input, request) => {
    const lease = await leases.tryAcquire(input.run ?? 'demo')
    if (!lease) throw createBusyError(await leases.getRunning())
    const server = connect(request)
    try {
      const tasks = input.tasks ?? DEMO_TASKS
      const { run, incarnation } =
        input.run === undefined ? await createNumberedRun(server, tasks) : await createRun(server, input.run, tasks)
      lease.rename(run)
      const training = train(
        bindToRun(server, incarnation),
        { run, steps: input.steps, tasks, signal: closing.signal },
        log,
      ).finally(() => lease.release())
      running.add(training)
      void training.finally(() => running.delete(training))
      return { run, steps: input.steps, dashboard: `/#/runs/${run}` }
    } catch (error) {
      await lease.release()
      throw error instanceof DemoCallError ? toServiceError(error) : error
    }
  }
}

function toServiceError({ rejection: { code, detail, kind, name } }: DemoCallError): ServiceError {
  const missing = kind !== undefined && name !== undefined ? { kind, name } : undefined
  return new ServiceError(code, detail, { ...(missing && { missing }) })
}

/** Sends a call through all hooks of the server: authentication, limits and validation. */
async function sendToApp(
  app: App,
  { method, path, body, headers }: DemoCall,
  from: FastifyRequest,
): Promise<DemoAnswer> {
  const credentials = CREDENTIAL_HEADERS.flatMap((name) => (from.headers[name] ? [[name, from.headers[name]]] : []))
  const response = await app.inject({
    method,
    url: path,
    headers: { ...Object.fromEntries(credentials), ...headers },
    remoteAddress: from.ip,
    ...(body !== undefined && { payload: body }),
  })
  const retryAfter = response.headers['retry-after']
  return {
    status: response.statusCode,
    retryAfterS: retryAfter === undefined ? undefined : Number(retryAfter),
    body: response.body === '' ? undefined : response.json(),
  }
}

type CreatedRun = Pick<Run, 'run' | 'incarnation'>

async function createRun(server: DemoServer, run: string, tasks: readonly string[]): Promise<CreatedRun> {
  const body = { ...DEMO_SETTINGS, tasks }
  return (await server.call({ method: 'PUT', path: `/runs/${run}`, body, headers: CREATE_HEADERS })) as CreatedRun // as declared
}

/** A call after the run was deleted fails, and does not create it again. */
function bindToRun(server: DemoServer, incarnation: string): DemoServer {
  const condition = { 'if-match': formatEntityTag(incarnation) }
  return { ...server, call: (call) => server.call({ ...call, headers: { ...condition, ...call.headers } }) }
}

/** Takes the first number whose name is free. */
async function createNumberedRun(server: DemoServer, tasks: readonly string[]): Promise<CreatedRun> {
  for (let number = 1; ; number++) {
    try {
      return await createRun(server, `demo-${number}`, tasks)
    } catch (error) {
      if (!(error instanceof DemoCallError && error.rejection.code === 'run_exists')) throw error
    }
  }
}

/** Resolves in any case: a demo that is deleted, or whose key is withdrawn, ends. */
async function train(server: DemoServer, { run, steps, tasks, signal }: Training, log: Logger): Promise<void> {
  try {
    await trainLearner(server, { run, steps, tasks, stepMs: STEP_MS, evals: true, signal })
    await server.call({ method: 'PATCH', path: `/runs/${run}`, body: { lifecycle: 'finished' } })
    log.info({ run, steps }, 'the demo is finished')
  } catch (error) {
    if (signal.aborted) return
    log.warn({ run, reason: errorMessage(error) }, 'the demo ended early')
  }
}

function createBusyError(run: string | null): ServiceError {
  const name = run === null || run === 'demo' ? '' : ` (${run})`
  return new ServiceError('too_many_active', `A demo is already running${name}. Wait until it ends, or delete its run.`)
}

/** A killed process blocks the next demo for this long. */
const LEASE_MS = 15_000
const RENEW_MS = 5000

interface DemoLease {
  /** Call this if the run gets another name. */
  rename(run: string): void
  release(): Promise<void>
}

/** Allows one demo at a time on all processes that share a Redis. */
class DemoLeases {
  readonly #redis: Redis
  readonly #leaseKey: string

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#leaseKey = keys.key('demo:running')
  }

  /** The run of the demo that holds the lease. */
  getRunning(): Promise<string | null> {
    return this.#redis.get(this.#leaseKey)
  }

  /** Undefined if another demo runs. The lease is renewed until it is released. */
  async tryAcquire(run: string): Promise<DemoLease | undefined> {
    if ((await this.#redis.set(this.#leaseKey, run, 'PX', LEASE_MS, 'NX')) === null) return undefined
    let name = run
    const renew = () => {
      this.#redis.set(this.#leaseKey, name, 'PX', LEASE_MS, 'XX').catch(() => {}) // the next renewal may succeed
    }
    const renewal = setInterval(renew, RENEW_MS)
    renewal.unref()
    return {
      rename(other) {
        name = other
        renew()
      },
      release: async () => {
        clearInterval(renewal)
        await this.#redis.del(this.#leaseKey).catch(() => {}) // it expires
      },
    }
  }
}
