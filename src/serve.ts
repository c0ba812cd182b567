/** main: the whole service in one command: a private Redis unless there is one, API processes, workers and their hosts. */
import { type ChildProcess, fork } from 'node:child_process'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { openKeyRing } from './access/key-ring.ts'
import { assertGuarded } from './access/loopback.ts'
import { closeAtTheEnd } from './closing.ts'
import { type Config, readConfig } from './config.ts'
import { SPREAD } from './listen.ts'
import { openLog } from './log.ts'
import { main } from './main.ts'
import { claimFolder } from './prepare/folder-claim.ts'
import { makeFolder } from './prepare/own-folder.ts'
import { PrepareError } from './prepare/prepare-error.ts'
import { startPrivateRedis } from './prepare/private-redis.ts'
import { preparePython } from './prepare/python-environment.ts'
import { tellIfRedisIsAway } from './redis-away.ts'

const API = 'api.ts'
const WORKER = 'worker.ts'
const RESTART_MS = 1000
/** Bodies live as long as their request: with room for those in hand few are copied about before they are forgotten. */
const YOUNG_SPACE = '--max-semi-space-size=32'
/** What V8 made of the sources: with it the processes are up with three quarters of the work. */
const COMPILE_CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache', 'reasoning-gym-server')

await main(async () => {
  const config = readConfig()
  const log = openLog(config.LOG_LEVEL, 'serve')
  const say = (line: string) => log.info(line)
  assertGuarded(config, openKeyRing(config))
  await assertPortFree(config)
  makeFolder(config.DATA_DIR)
  const claim = await claimFolder(config.DATA_DIR)
  const python = await preparePython(say, config.PYTHON, (line) => log.warn(line))
  const redis = config.REDIS_URL ? undefined : await startPrivateRedis(config.DATA_DIR, say, config.PYTHON)
  const env = {
    ...compileCache(),
    ...process.env,
    REDIS_URL: config.REDIS_URL ?? redis?.url,
    PYTHON: python,
  }
  if (config.REDIS_URL) void tellIfRedisIsAway(config.REDIS_URL, log)
  const children = new Set<ChildProcess>()
  const listening = new Set<ChildProcess>()
  let closing = false

  /** Resolves when the process says that it is up; one that ends later is started again. */
  const start = (script: string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const child = fork(join(import.meta.dirname, script), { env, execArgv: [...process.execArgv, YOUNG_SPACE] })
    children.add(child)
    let up = false
    child.once('message', () => {
      up = true
      if (script === API) joined(child)
      resolve()
    })
    child.on('error', (error) => {
      if (child.pid !== undefined) return // what ends is told below
      children.delete(child) // it could not be begun: too many processes, no memory
      reject(new PrepareError(`${script} cannot be started: ${error.message}`))
    })
    child.once('exit', (code, signal) => {
      children.delete(child)
      listening.delete(child)
      if (closing) return
      if (!up) return reject(new PrepareError(`${script} ended while it started (${signal ?? code})`))
      log.warn({ script, code, signal }, 'a process ended and is started again')
      setTimeout(() => restart(script), RESTART_MS)
    })
    return promise
  }

  /** Once all are there: who is told to go elsewhere is told so once. */
  const joined = (child: ChildProcess) => {
    listening.add(child)
    if (listening.size < config.API_PROCESSES) return
    for (const each of listening) if (each !== child) each.send(SPREAD)
  }

  const restart = (script: string) => {
    if (closing) return
    start(script).catch((err: unknown) => {
      log.error({ err }, 'it does not start and is tried again')
      setTimeout(() => restart(script), RESTART_MS)
    })
  }

  closeAtTheEnd(log, async () => {
    closing = true
    await Promise.all([...children].map(stop))
    await redis?.stop()
    claim.release()
  })
  // As many at once as there are cores: more would hold up each other. Those who answer come first, for what is asked at once.
  const scripts = [...Array<string>(config.API_PROCESSES).fill(API), ...Array<string>(config.WORKERS).fill(WORKER)]
  const later = scripts.splice(availableParallelism())
  await Promise.all(scripts.map(start))
  const address = `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST}:${config.PORT}`
  log.info(`reasoning-gym-server is at ${address}, try it at ${address}/docs; data in ${config.DATA_DIR}`)
  for (const script of later) restart(script)
})

/** Where the folder cannot be written, as in the image, there is none. */
function compileCache(): { NODE_COMPILE_CACHE?: string } {
  try {
    mkdirSync(COMPILE_CACHE, { recursive: true })
    accessSync(COMPILE_CACHE, constants.W_OK)
    return { NODE_COMPILE_CACHE: COMPILE_CACHE }
  } catch {
    return {}
  }
}

function stop(child: ChildProcess): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.kill('SIGTERM')
  return promise
}

/** With several API processes the kernel would let a second server share the port in silence. */
async function assertPortFree({ HOST, PORT }: Config): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const probe = createServer((socket) => socket.destroy()) // a client that knocks too early must not wait
  probe.once('error', (error: NodeJS.ErrnoException) => {
    const taken = error.code === 'EADDRINUSE'
    reject(
      new PrepareError(
        taken
          ? `Port ${PORT} is taken: stop what listens there, or set PORT to another`
          : `Cannot listen on ${HOST}:${PORT}: ${error.message}`,
      ),
    )
  })
  probe.listen({ host: HOST, port: PORT }, () => probe.close(() => resolve()))
  return promise
}
