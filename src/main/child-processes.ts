/** The API processes and workers of `npm start`: starts them, restarts one that exits, and stops them. */
import { type ChildProcess, fork } from 'node:child_process'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import type { Logger } from 'pino'
import { createCompileCacheEnv, createInheritedSocketsEnv, getModulePath } from '../platform/installation.ts'
import { ProcessGroupMetrics } from '../platform/metrics/process-group.ts'
import { retry } from '../platform/retry.ts'
import { StartupError } from './bootstrap/startup-report.ts'
import { isStartupFailure } from './run-main.ts'

export type Script = 'api.ts' | 'worker.ts'

const RESTART_DELAY_MS = 1000
/**
 * A young generation large enough for the bodies in flight, so that V8 copies few of them before they are freed. It is half of that
 * from the start and stays so in an idle process: pages that are not used take no memory, and the first burst need not grow it.
 * The old generation, some 50 MB, may grow to 128 MB before V8 collects it: else it does so every second under load, for a
 * tenth of the processor time.
 */
const HEAP_FLAGS = ['--min-semi-space-size=16', '--max-semi-space-size=32', '--initial-old-space-size=128']

/**
 * All threads of a process allocate from one heap of the C library. Each of the dozen threads that Node starts would get a heap of
 * its own and keep what it once needed: 30 to 60 MB of a process that has worked for ten minutes.
 */
const MALLOC_ENV = { MALLOC_ARENA_MAX: '1' }

interface ChildProcessesOptions {
  env: NodeJS.ProcessEnv
  log: Logger
  /** File descriptors of the listening sockets of each API process. */
  sockets: number[][]
  /** Receives the children's log lines. Without it, they write to the standard output themselves. */
  onLogLine?: ((line: string) => void) | undefined
}

export class ChildProcesses {
  readonly #options: ChildProcessesOptions
  readonly #children = new Set<ChildProcess>()
  /** Processes that are not ready yet, with their names. */
  readonly #starting = new Map<ChildProcess, string>()
  /** Listening sockets, by the process that has them. */
  readonly #sockets = new Map<ChildProcess, number[]>()
  readonly #groupMetrics = new ProcessGroupMetrics()
  #closing = false

  constructor(options: ChildProcessesOptions) {
    this.#options = { ...options, env: { ...createCompileCacheEnv(), ...MALLOC_ENV, ...options.env } }
  }

  describeStarting(): string {
    return `waiting for ${[...this.#starting.values()].join(', ') || 'a process'} to load the library`
  }

  /** Resolves when the process serves and its engine is ready. A process that exits later is restarted. */
  start(script: Script): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const child = this.#fork(script)
    this.#children.add(child)
    this.#starting.set(child, `${script} (process ${child.pid})`)
    let isUp = false
    let failure: string | undefined
    child.on('message', (message) => {
      if (isStartupFailure(message)) failure = message.message
      else if (message === 'listening') {
        isUp = true
        this.#groupMetrics.add(child)
      } else if (message === 'started') {
        this.#starting.delete(child)
        resolve()
      }
    })
    child.on('error', (error) => {
      if (child.pid !== undefined) return // the 'exit' handler reports it
      this.#forget(child) // spawning failed: too many processes, or out of memory
      reject(new StartupError(`${script} could not be started: ${error.message}`))
    })
    child.once('exit', (code, signal) => {
      this.#forget(child)
      if (this.#closing) return
      if (!isUp) return reject(new StartupError(failure ?? `${script} exited during startup (${signal ?? code})`))
      resolve() // it was ready, although its engine was not
      this.#options.log.warn({ script, code, signal }, 'a child process exited and is restarted')
      setTimeout(() => void this.startWithRetries(script), RESTART_DELAY_MS)
    })
    return promise
  }

  startWithRetries(script: Script): Promise<void> {
    const start = async () => {
      if (!this.#closing) await this.start(script)
    }
    return retry(start, {
      pauseMs: RESTART_DELAY_MS,
      onError: (err) => this.#options.log.error({ err }, 'a child process could not be started; the server retries'),
    })
  }

  /** Ends the processes after their work in flight. Their successors run the code that is on disk then. One that starts goes on. */
  replace(): void {
    for (const child of this.#children) if (!this.#starting.has(child)) child.kill('SIGTERM')
  }

  async stop(): Promise<void> {
    this.#closing = true
    await Promise.all([...this.#children].map(stopChildProcess))
  }

  /** Ends them at once. */
  kill(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }

  #fork(script: Script): ChildProcess {
    const { env, onLogLine } = this.#options
    const sockets = script === 'api.ts' ? this.#findFreeSockets() : []
    const child = fork(getModulePath(import.meta.dirname, basename(script, '.ts')), {
      env: { ...env, ...createInheritedSocketsEnv(sockets.length) },
      execArgv: [...process.execArgv, ...HEAP_FLAGS],
      serialization: 'advanced', // metrics may be NaN, which JSON does not know
      stdio: ['inherit', onLogLine ? 'pipe' : 'inherit', 'inherit', ...sockets, 'ipc'],
    })
    this.#sockets.set(child, sockets)
    if (onLogLine && child.stdout) createInterface({ input: child.stdout }).on('line', onLogLine)
    return child
  }

  /** A process that is restarted takes those of one that has ended, with the connections that wait there. */
  #findFreeSockets(): number[] {
    const taken = new Set(this.#sockets.values())
    return this.#options.sockets.find((sockets) => !taken.has(sockets)) ?? []
  }

  #forget(child: ChildProcess): void {
    this.#starting.delete(child)
    this.#sockets.delete(child)
    this.#children.delete(child)
  }
}

function stopChildProcess(child: ChildProcess): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.kill('SIGTERM')
  return promise
}
