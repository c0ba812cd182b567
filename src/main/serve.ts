/** Entry point of `npm start`: a private Redis unless REDIS_URL is set, API processes and workers. */
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { DEFAULT_PORT } from '@reasoning-gym-server/contract/environment'
import type { Logger } from 'pino'
import { LibraryProcess } from '../engine/library-process.ts'
import { TASK_NAMES } from '../features/tasks/built-in-tasks.ts'
import { assertKeysOrLoopback, loadKeyRing } from '../http/auth/key-ring.ts'
import { readConfig, requireRedisTls, type ServerConfig } from '../platform/environment.ts'
import {
  buildChildEnvironment,
  createLibrarySocketEnv,
  getLibrarySocket,
  isVariableSet,
  VERSION,
} from '../platform/installation.ts'
import { createLogger } from '../platform/log.ts'
import type { RedisTls } from '../platform/redis/redis-tls.ts'
import { releaseStartupMemory } from '../platform/startup-memory.ts'
import { acquireDataDirLock, createFolder, TEMPORARY_DATA } from './bootstrap/data-folder.ts'
import { ensurePythonEnvironment } from './bootstrap/python/python-environment.ts'
import { startPrivateRedis } from './bootstrap/redis/private-redis.ts'
import { type ReportProgress, withWaitNotice } from './bootstrap/startup-report.ts'
import { ChildProcesses, type Script } from './child-processes.ts'
import { openListeningSockets } from './listening-sockets.ts'
import { closeOnShutdown, runMain, watchNpmParent } from './run-main.ts'
import type { StartupScreen } from './startup-screen.ts'

const READINESS_TIMEOUT_MS = 5000
const SHUTDOWN_GRACE_MS = 25_000 // of its processes, which have 15 s, and then of Redis; systemd kills after 30 s

await runMain(async () => {
  const config = readConfig()
  process.once('exit', () => {
    if (process.argv[2] !== TEMPORARY_DATA || process.connected) return
    try {
      rmSync(config.DATA_DIR, { recursive: true, force: true })
    } catch {} // what is still writing there is ended by later listeners
  })
  const screen = usesScreen(config) ? await openScreen() : undefined
  try {
    await serve(config, screen)
  } finally {
    screen?.close()
  }
})

async function serve(config: ServerConfig, screen: StartupScreen | undefined): Promise<void> {
  const level = screen ? 'warn' : config.LOG_LEVEL
  const log = createLogger(level, 'serve', screen && { write: (line) => screen.writeLogLine(line) })
  const report: ReportProgress = screen?.report ?? ((message) => log.info(message))
  const keyRing = loadKeyRing(config)
  assertKeysOrLoopback(config, keyRing)
  const tls = requireRedisTls(config)
  const sockets = await openListeningSockets(config, config.SMALL ? 1 : config.API_PROCESSES)
  process.send?.('listening', undefined, undefined, () => {}) // what answers at the port is this server; the parent may have ended
  createFolder(config.DATA_DIR)
  const dataDirLock = await acquireDataDirLock(config.DATA_DIR, report)
  const warn = (message: string) => log.warn(message)
  const python = await ensurePythonEnvironment(report, config.PYTHON, warn)
  const redis = config.REDIS_URL ? undefined : await startPrivateRedis(config.DATA_DIR, report, config.PYTHON, warn)
  if (config.REDIS_URL) await requireReachable({ url: config.REDIS_URL, tls }, log)
  const library = getLibrarySocket() === undefined ? new LibraryProcess(python) : undefined
  const children = new ChildProcesses({
    env: buildChildEnvironment({
      REDIS_URL: config.REDIS_URL ?? redis?.url,
      LOG_LEVEL: level,
      ...(library && createLibrarySocketEnv(library.socket)),
    }),
    log,
    sockets,
    onLogLine: screen && ((line) => screen.writeLogLine(line)),
  })
  const close = async () => {
    screen?.announceStop()
    sockets.close()
    await children.stop()
    library?.close()
    await redis?.stop()
    dataDirLock.release()
  }
  const replace = () => {
    log.info('replacing the API processes and the workers, one after the other, and the engine')
    library?.restart()
    children.replace()
  }
  closeOnShutdown(log, close, { graceMs: SHUTDOWN_GRACE_MS, abandon: () => children.kill(), replace })
  watchNpmParent(() => process.kill(process.pid, 'SIGTERM'))
  // Start as many at once as there are cores. An API process and the workers can do all work; the other API processes make it faster.
  const scripts: Script[] = [
    'api.ts',
    ...Array<Script>(config.SMALL ? 0 : config.WORKERS).fill('worker.ts'),
    ...Array<Script>(config.SMALL ? 0 : config.API_PROCESSES - 1).fill('api.ts'),
  ]
  const later = scripts.splice(availableParallelism())
  const starts = Promise.all(scripts.map((script) => children.start(script)))
  await withWaitNotice(report, () => children.describeStarting(), starts)
  redis?.noteUse()
  const laterStarts = Promise.all(later.map((script) => children.startWithRetries(script)))
  await withWaitNotice(report, () => children.describeStarting(), laterStarts)
  releaseStartupMemory()
  const { HOST, PORT, DATA_DIR, SMALL, API_PROCESSES, WORKERS } = config
  const address = `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`
  if (!screen) {
    log.info(`reasoning-gym-server is at ${address}; Swagger UI: ${address}/docs; data directory: ${DATA_DIR}`)
    return
  }
  screen.finish({
    version: VERSION,
    tasks: TASK_NAMES.length,
    apiProcesses: API_PROCESSES,
    workers: WORKERS,
    isSmall: SMALL,
    layers: await readSandboxLayers(address.replace(/0\.0\.0\.0|\[::\]/, '127.0.0.1')),
    address,
    dataDir: DATA_DIR,
    keys: keyRing?.size ?? null,
    isDefaultPort: PORT === DEFAULT_PORT,
  })
}

// Imported where they are needed: this process stays, and the libraries of these two would take 6 MB of it.
async function openScreen(): Promise<StartupScreen> {
  const { StartupScreen } = await import('./startup-screen.ts')
  return new StartupScreen()
}
async function requireReachable(redis: { url: string; tls: RedisTls | undefined }, log: Logger): Promise<void> {
  const { requireRedis } = await import('./storage-checks.ts')
  await requireRedis(redis, log)
}

/** In a terminal, unless the log level is set or tasks are watched: then the log goes to the terminal, one line per event. */
function usesScreen({ LOG_LEVEL, WATCH_TASKS }: ServerConfig): boolean {
  return process.stdout.isTTY && LOG_LEVEL === 'info' && !isVariableSet('LOG_LEVEL') && !WATCH_TASKS
}

async function readSandboxLayers(address: string): Promise<Record<string, string> | undefined> {
  try {
    const response = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(READINESS_TIMEOUT_MS) })
    const { engine } = (await response.json()) as { engine: { layers?: Record<string, string> } } // as /readyz answers
    return engine.layers
  } catch {
    return undefined
  }
}
