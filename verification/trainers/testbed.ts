/** The server that the trainers meet: real processes on a Redis of their own, which a script may stop and start through HTTP. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-process.ts'
import { findFreePortPairs, LoopbackRedis } from '../support/loopback-redis.ts'
import { listDescendants } from '../support/processes.ts'
import { waitUntil } from '../support/wait.ts'
import { type ChildServer, getFreePort, startChildServer } from '../support/with-server.ts'

interface Testbed {
  /** Environment variables that say to a script where everything is. */
  env: Record<string, string>
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
  const port = await getFreePort()
  const serverEnv = {
    PORT: String(port),
    DATA_DIR: join(folder, 'data'),
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    API_KEYS: `trainer:${apiKey},admin:${adminKey}`,
    API_PROCESSES: '2', // an open group must not depend on the process that a call reaches
    WORKERS: '1',
    LOG_LEVEL: 'warn',
  }
  let server: ChildServer | undefined = await startChildServer(serverEnv)
  const stopServer = async () => {
    await server?.stop()
    server = undefined
  }
  const settle = async () => {
    if (!redis.isUp) redis.restart()
    server ??= await startChildServer(serverEnv)
    const ask = () =>
      fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
    await waitUntil('the server is ready again', async () => (await ask())?.ok === true, { timeoutMs: 60_000 })
  }
  const killApi = async () => {
    const listApis = () => listDescendants(server?.pid ?? 0).filter(({ args }) => args.includes('api.ts'))
    const killed = listApis().map(({ pid }) => pid)
    for (const pid of killed) process.kill(pid, 'SIGKILL')
    await waitUntil('they have ended', () => !listApis().some(({ pid }) => killed.includes(pid)), {
      timeoutMs: 10_000,
    })
  }
  const actions: Record<string, () => Promise<void>> = {
    'stop-server': stopServer,
    'start-server': settle,
    'kill-api': killApi,
    'restart-server': () => stopServer().then(settle),
    'stop-redis': () => redis.kill(),
    'start-redis': settle,
  }
  const control = Fastify({ logger: false, forceCloseConnections: true })
  for (const [name, act] of Object.entries(actions)) control.post(`/${name}`, () => act().then(() => ({ done: name })))
  return {
    env: {
      RGS_URL: `http://trainer:${apiKey}@127.0.0.1:${port}`,
      RGS_PLAIN_URL: `http://127.0.0.1:${port}`,
      RGS_API_KEY: apiKey,
      RGS_ADMIN_KEY: adminKey,
      RGS_CONTROL: await control.listen({ host: '127.0.0.1', port: 0 }),
    },
    settle,
    output: () => server?.output() ?? '',
    async close() {
      await control.close()
      await stopServer()
      await redis.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
