/** The server that the trainers meet: real processes on a Redis of their own, which a script may stop and start through HTTP. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-process.ts'
import { findFreePortPairs, LoopbackRedis } from '../support/loopback-redis.ts'
import { waitUntil } from '../support/wait.ts'
import { type ChildServer, getFreePort, startChildServer } from '../support/with-server.ts'

const READY_TIMEOUT_MS = 60_000

export interface Testbed {
  /** Without a key. */
  url: string
  /** With the trainer's key as the password, for clients that take nothing but a URL. */
  urlWithKey: string
  orsUrl: string
  apiKey: string
  adminKey: string
  controlUrl: string
  /** Starts again what a script has left stopped, and waits until the server is ready. */
  settle(): Promise<void>
  /** What the server has printed since it was last started. */
  output(): string
  close(): Promise<void>
}

export async function openTestbed(report: (line: string) => void): Promise<Testbed> {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-trainers-'))
  const [redisPort = 0] = await findFreePortPairs(1)
  const redis = new LoopbackRedis(await resolveRedisBinary(report), folder, redisPort, {})
  const [apiKey, adminKey] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')]
  const [port, orsPort] = [await getFreePort(), await getFreePort()]
  const env = {
    PORT: String(port),
    ORS_PORT: String(orsPort),
    DATA_DIR: join(folder, 'data'),
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    API_KEYS: `trainer:${apiKey},admin:${adminKey}`,
    API_PROCESSES: '2', // an open group must not depend on the process that a call reaches
    WORKERS: '1',
    LOG_LEVEL: 'warn',
  }
  let redisIsUp = true
  let server: ChildServer | undefined = await startChildServer(env)
  const stopServer = async () => {
    await server?.stop()
    server = undefined
  }
  const startServer = async () => {
    server ??= await startChildServer(env)
  }
  const stopRedis = async () => {
    if (redisIsUp) await redis.kill()
    redisIsUp = false
  }
  const startRedis = () => {
    if (!redisIsUp) redis.restart()
    redisIsUp = true
  }
  const url = `http://127.0.0.1:${port}`
  const settle = async () => {
    startRedis()
    await startServer()
    const ask = () => fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
    await waitUntil('the server is ready again', async () => (await ask())?.ok === true, {
      timeoutMs: READY_TIMEOUT_MS,
    })
  }
  const control = Fastify({ logger: false, forceCloseConnections: true })
  const actions: Record<string, () => Promise<void>> = {
    'stop-server': stopServer,
    'start-server': settle,
    'restart-server': async () => {
      await stopServer()
      await settle()
    },
    'stop-redis': stopRedis,
    'start-redis': settle,
  }
  for (const [name, act] of Object.entries(actions)) {
    control.post(`/${name}`, async () => {
      await act()
      return { done: name }
    })
  }
  return {
    url,
    urlWithKey: `http://trainer:${apiKey}@127.0.0.1:${port}`,
    orsUrl: `http://127.0.0.1:${orsPort}`,
    apiKey,
    adminKey,
    controlUrl: await control.listen({ host: '127.0.0.1', port: 0 }),
    settle,
    output: () => server?.output() ?? '',
    async close() {
      await control.close()
      await stopServer()
      if (redisIsUp) await redis.stop()
      else redis.client.disconnect()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
