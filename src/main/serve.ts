/** Entry point of `npm start`: a private Redis unless REDIS_URL is set, API processes and workers. */
import { type ChildProcess, fork } from 'node:child_process'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { loadKeyRing } from '../http/auth/key-ring.ts'
import { assertKeysOrLoopback } from '../http/auth/loopback.ts'
import { readConfig, requireRedisTls, type ServerConfig } from '../platform/config.ts'
import { createLogger } from '../platform/log.ts'
import { ProcessGroupMetrics } from '../platform/metrics/process-group.ts'
import { acquireDataDirLock } from './bootstrap/data-dir-lock.ts'
import { createFolder } from './bootstrap/private-folder.ts'
import { startPrivateRedis } from './bootstrap/private-redis.ts'
import { ensurePythonEnvironment } from './bootstrap/python-environment.ts'
import { warnIfRedisUnreachable } from './bootstrap/redis-check.ts'
import { StartupError } from './bootstrap/startup-error.ts'
import { withWaitNotice } from './bootstrap/wait-notice.ts'
import { closeOnShutdown } from './graceful-shutdown.ts'
import { runMain } from './run-main.ts'

const API_SCRIPT = 'api.ts'
const WORKER_SCRIPT = 'worker.ts'
const RESTART_DELAY_MS = 1000
/** A young generation large enough for the bodies in flight, so that V8 copies few of them before they are freed. */
const SEMI_SPACE_FLAG = '--max-semi-space-size=32'
/** V8's compile cache, which saves a quarter of the startup work. */
const COMPILE_CACHE_DIR = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'reasoning-gym-server')

await runMain(async () => {
  const config = readConfig()
  const log = createLogger(config.LOG_LEVEL, 'serve')
  const report = (message: string) => log.info(message)
  assertKeysOrLoopback(config, loadKeyRing(config))
  const tls = requireRedisTls(config)
  await assertPortAvailable(config)
  createFolder(config.DATA_DIR)
  const dataDirLock = await acquireDataDirLock(config.DATA_DIR, report)
  const warn = (message: string) => log.warn(message)
  await ensurePythonEnvironment(report, config.PYTHON, warn)
  const redis = config.REDIS_URL ? undefined : await startPrivateRedis(config.DATA_DIR, report, config.PYTHON, warn)
  const env = {
    ...createCompileCacheEnv(),
    ...process.env,
    REDIS_URL: config.REDIS_URL ?? redis?.url,
  }
  if (config.REDIS_URL) void warnIfRedisUnreachable({ url: config.REDIS_URL, tls }, log)
  const children = new Set<ChildProcess>()
  /** Processes that have not reported yet. */
  const starting = new Map<ChildProcess, string>()
  const groupMetrics = new ProcessGroupMetrics()
  let closing = false

  /** Resolves when the process reports that it is ready. A process that exits later is restarted. */
  const start = (script: string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const child = fork(join(import.meta.dirname, script), {
      env,
      execArgv: [...process.execArgv, SEMI_SPACE_FLAG],
      serialization: 'advanced', // metrics may be NaN, which JSON does not know
    })
    children.add(child)
    starting.set(child, `${script} (process ${child.pid})`)
    let up = false
    child.once('message', () => {
      up = true
      starting.delete(child)
      groupMetrics.add(child)
      resolve()
    })
    child.on('error', (error) => {
      if (child.pid !== undefined) return // the 'exit' handler reports it
      starting.delete(child)
      children.delete(child) // spawning failed: too many processes, or out of memory
      reject(new StartupError(`${script} could not be started: ${error.message}`))
    })
    child.once('exit', (code, signal) => {
      starting.delete(child)
      children.delete(child)
      if (closing) return
      if (!up) return reject(new StartupError(`${script} exited during startup (${signal ?? code})`))
      log.warn({ script, code, signal }, 'a child process exited and is restarted')
      setTimeout(() => restart(script), RESTART_DELAY_MS)
    })
    return promise
  }

  const restart = (script: string) => {
    if (closing) return
    start(script).catch((err: unknown) => {
      log.error({ err }, 'a child process could not be started; the server retries')
      setTimeout(() => restart(script), RESTART_DELAY_MS)
    })
  }

  closeOnShutdown(log, async () => {
    closing = true
    await Promise.all([...children].map(stopChildProcess))
    await redis?.stop()
    dataDirLock.release()
  })
  // Start as many at once as there are cores. API processes come first, so that early requests get a response.
  const scripts = [
    ...Array<string>(config.API_PROCESSES).fill(API_SCRIPT),
    ...Array<string>(config.WORKERS).fill(WORKER_SCRIPT),
  ]
  const later = scripts.splice(availableParallelism())
  const describeStarting = () => `waiting for ${[...starting.values()].join(', ')}, which load the library`
  await withWaitNotice(report, describeStarting, Promise.all(scripts.map(start)))
  redis?.noteUse()
  const address = `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST}:${config.PORT}`
  log.info(`reasoning-gym-server is at ${address}; Swagger UI: ${address}/docs; data directory: ${config.DATA_DIR}`)
  for (const script of later) restart(script)
})

/** Undefined if the folder is not writable, as in the container image. */
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

/** With several API processes, the kernel would silently let a second server share the port. */
async function assertPortAvailable({ HOST, PORT }: ServerConfig): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const probe = createServer((socket) => socket.destroy()) // an early client must not wait
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
