/** main: the whole service in one command: a private Redis unless there is one, API processes, workers and their hosts. */
import { type ChildProcess, fork } from 'node:child_process'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { loadKeyRing } from '../http/auth/key-ring.ts'
import { assertKeysOrLoopback } from '../http/auth/loopback.ts'
import { readConfig, type ServerConfig } from '../platform/config.ts'
import { createLogger } from '../platform/log.ts'
import { ProcessGroupMetrics } from '../platform/metrics/process-group.ts'
import { acquireDataDirLock } from './bootstrap/data-dir-lock.ts'
import { createFolder } from './bootstrap/private-folder.ts'
import { startPrivateRedis } from './bootstrap/private-redis.ts'
import { ensurePythonEnvironment } from './bootstrap/python-environment.ts'
import { warnIfRedisUnreachable } from './bootstrap/redis-check.ts'
import { StartupError } from './bootstrap/startup-error.ts'
import { closeOnShutdown } from './graceful-shutdown.ts'
import { runMain } from './run-main.ts'

const API_SCRIPT = 'api.ts'
const WORKER_SCRIPT = 'worker.ts'
const RESTART_DELAY_MS = 1000
/** Bodies live as long as their request: with room for those in hand few are copied about before they are forgotten. */
const SEMI_SPACE_FLAG = '--max-semi-space-size=32'
/** What V8 made of the sources: with it the processes are up with three quarters of the work. */
const COMPILE_CACHE_DIR = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'reasoning-gym-server')

await runMain(async () => {
  const config = readConfig()
  const log = createLogger(config.LOG_LEVEL, 'serve')
  const say = (line: string) => log.info(line)
  assertKeysOrLoopback(config, loadKeyRing(config))
  await assertPortAvailable(config)
  createFolder(config.DATA_DIR)
  const dataDirLock = acquireDataDirLock(config.DATA_DIR)
  const python = await ensurePythonEnvironment(say, config.PYTHON, (line) => log.warn(line))
  const redis = config.REDIS_URL ? undefined : await startPrivateRedis(config.DATA_DIR, say, config.PYTHON)
  const env = {
    ...createCompileCacheEnv(),
    ...process.env,
    REDIS_URL: config.REDIS_URL ?? redis?.url,
    PYTHON: python,
  }
  if (config.REDIS_URL) void warnIfRedisUnreachable(config.REDIS_URL, log)
  const children = new Set<ChildProcess>()
  const groupMetrics = new ProcessGroupMetrics()
  let closing = false

  /** Resolves when the process says that it is up; one that ends later is started again. */
  const start = (script: string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const child = fork(join(import.meta.dirname, script), {
      env,
      execArgv: [...process.execArgv, SEMI_SPACE_FLAG],
      serialization: 'advanced', // metrics may be NaN, which JSON does not know
    })
    children.add(child)
    let up = false
    child.once('message', () => {
      up = true
      groupMetrics.add(child)
      resolve()
    })
    child.on('error', (error) => {
      if (child.pid !== undefined) return // what ends is told below
      children.delete(child) // it could not be begun: too many processes, no memory
      reject(new StartupError(`${script} cannot be started: ${error.message}`))
    })
    child.once('exit', (code, signal) => {
      children.delete(child)
      if (closing) return
      if (!up) return reject(new StartupError(`${script} ended while it started (${signal ?? code})`))
      log.warn({ script, code, signal }, 'a process ended and is started again')
      setTimeout(() => restart(script), RESTART_DELAY_MS)
    })
    return promise
  }

  const restart = (script: string) => {
    if (closing) return
    start(script).catch((err: unknown) => {
      log.error({ err }, 'it does not start and is tried again')
      setTimeout(() => restart(script), RESTART_DELAY_MS)
    })
  }

  closeOnShutdown(log, async () => {
    closing = true
    await Promise.all([...children].map(stopChildProcess))
    await redis?.stop()
    dataDirLock.release()
  })
  // As many at once as there are cores: more would hold up each other. Those who answer come first, for what is asked at once.
  const scripts = [
    ...Array<string>(config.API_PROCESSES).fill(API_SCRIPT),
    ...Array<string>(config.WORKERS).fill(WORKER_SCRIPT),
  ]
  const later = scripts.splice(availableParallelism())
  await Promise.all(scripts.map(start))
  const address = `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST}:${config.PORT}`
  log.info(`reasoning-gym-server is at ${address}, try it at ${address}/docs; data in ${config.DATA_DIR}`)
  for (const script of later) restart(script)
})

/** Where the folder cannot be written, as in the image, there is none. */
function createCompileCacheEnv(): { NODE_COMPILE_CACHE?: string } {
  try {
    mkdirSync(COMPILE_CACHE_DIR, { recursive: true })
    accessSync(COMPILE_CACHE_DIR, constants.W_OK)
    return { NODE_COMPILE_CACHE: COMPILE_CACHE_DIR }
  } catch {
    return {}
  }
}

function stopChildProcess(child: ChildProcess): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.kill('SIGTERM')
  return promise
}

/** With several API processes the kernel would let a second server share the port in silence. */
async function assertPortAvailable({ HOST, PORT }: ServerConfig): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const probe = createServer((socket) => socket.destroy()) // a client that knocks too early must not wait
  probe.once('error', (error: NodeJS.ErrnoException) => {
    const taken = error.code === 'EADDRINUSE'
    reject(
      new StartupError(
        taken
          ? `Port ${PORT} is taken: stop what listens there, or set PORT to another`
          : `Cannot listen on ${HOST}:${PORT}: ${error.message}`,
      ),
    )
  })
  probe.listen({ host: HOST, port: PORT }, () => probe.close(() => resolve()))
  return promise
}
