/** The API processes and workers of `npm start`: starts them, replaces one that exits or no longer answers, and stops them. */
import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import type { Logger } from 'pino'
import { createCompileCacheEnv, createInheritedSocketsEnv, getModulePath } from '../platform/installation.ts'
import { ProcessGroupMetrics } from '../platform/metrics/process-group.ts'
import { retry } from '../platform/retry.ts'
import { StartupError } from './bootstrap/startup-report.ts'
import type { ListeningSockets } from './listening-sockets.ts'
import { isStartupFailure } from './run-main.ts'

export type Script = 'api.ts' | 'worker.ts'

const RESTART_DELAY_MS = 1000
const PING_INTERVAL_MS = 1000
/** Pings without an answer after which other processes get the connections that wait for this one. */
const MISSED_PINGS_BEFORE_RESCUE = 2
/** Pings without an answer after which it is killed: many, because the machine may be overloaded. */
const MISSED_PINGS_BEFORE_KILL = 30
/** A process has exited before its last messages are read. */
const LAST_MESSAGES_MS = 100

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
  sockets: ListeningSockets
  /** Receives the children's log lines. Without it, they write to the standard output themselves. */
  onLogLine?: ((line: string) => void) | undefined
}

interface Child {
  process: ChildProcess
  script: Script
  /** Index of its listening sockets. A worker has none. */
  sockets: number | undefined
  /** It listens before its engine is ready. */
  phase: 'loading' | 'listening' | 'started'
  /** Rejects if it cannot be started. */
  started: Promise<void>
  /** Another process has been started in its place: it is not restarted when it exits. */
  isReplaced: boolean
  missedPings: number
  /** Connections that were sent to it and that it has not accepted yet, in their order. */
  sent: Socket[]
}

export class ChildProcesses {
  readonly #options: ChildProcessesOptions
  readonly #children = new Set<Child>()
  readonly #groupMetrics = new ProcessGroupMetrics()
  /** Connections to a process that has exited or hangs, until another one gets them. */
  readonly #rescued: Socket[] = []
  #handOverCount = 0
  #replacing = Promise.resolve()
  #closing = false

  constructor(options: ChildProcessesOptions) {
    this.#options = { ...options, env: { ...createCompileCacheEnv(), ...MALLOC_ENV, ...options.env } }
    setInterval(() => this.#pingAll(), PING_INTERVAL_MS).unref()
  }

  describeStarting(): string {
    const starting = [...this.#children].filter(({ phase }) => phase !== 'started')
    const names = starting.map(({ script, process }) => `${script} (process ${process.pid})`)
    return `waiting for ${names.join(', ') || 'a process'} to load the library`
  }

  /**
   * Resolves when the process serves and its engine is ready. A process that exits later is restarted. A process that starts takes
   * the listening sockets of one that has exited, with the connections that wait there.
   */
  start(script: Script, sockets = script === 'api.ts' ? this.#findFreeSockets() : undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const process = this.#fork(script, sockets)
    const child: Child = {
      process,
      script,
      sockets,
      phase: 'loading',
      started: promise,
      isReplaced: false,
      missedPings: 0,
      sent: [],
    }
    this.#children.add(child)
    let failure: string | undefined
    process.on('message', (message) => {
      if (isStartupFailure(message)) failure = message.message
      else if (message === 'pong') child.missedPings = 0
      else if (message === 'accepted') child.sent.shift()?.destroy()
      else if (message === 'listening') {
        child.phase = message
        this.#groupMetrics.add(process)
        this.#handOver()
      } else if (message === 'started') {
        child.phase = message
        resolve()
      }
    })
    process.on('error', (error) => {
      if (process.pid !== undefined) return // the 'exit' handler reports it
      this.#children.delete(child) // spawning failed: too many processes, or out of memory
      reject(new StartupError(`${script} could not be started: ${error.message}`))
    })
    process.once('disconnect', () => {
      this.#rescued.push(...child.sent)
      this.#handOver()
    })
    process.once('exit', (code, signal) => {
      this.#children.delete(child)
      setTimeout(() => process.emit('disconnect'), LAST_MESSAGES_MS) // Node does not, if it has not acknowledged a connection
      if (this.#closing) return
      if (child.phase === 'loading')
        return reject(new StartupError(failure ?? `${script} exited during startup (${signal ?? code})`))
      resolve() // it was ready, although its engine was not
      if (child.isReplaced) return
      this.#options.log.warn({ script, code, signal }, 'a child process exited and is restarted')
      this.#rescue(child)
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

  /** Replaces the processes, one after the other, by ones that run the code on disk. One that is starting may have read older code. */
  replace(): void {
    this.#replacing = this.#replacing.then(async () => {
      const children = [...this.#children] // the set gets the new ones
      for (const child of children) {
        await child.started.catch(() => {}) // the caller of start reports it
        await this.#replaceOne(child)
      }
    })
  }

  /** Both accept connections until the old process ends, after its work in flight. */
  async #replaceOne(child: Child): Promise<void> {
    if (this.#closing || !this.#children.has(child)) return
    child.isReplaced = true
    try {
      await this.start(child.script, child.sockets)
      child.process.send('replaced', () => child.process.kill('SIGTERM'))
    } catch (err) {
      this.#options.log.error({ err }, 'a child process could not be replaced; the old one continues')
      child.isReplaced = false
      if (!this.#children.has(child)) void this.startWithRetries(child.script)
    }
  }

  async stop(): Promise<void> {
    this.#closing = true
    for (const socket of this.#rescued) socket.destroy()
    await Promise.all([...this.#children].map(({ process }) => stopChildProcess(process)))
  }

  /** Ends them at once. */
  kill(): void {
    for (const { process } of this.#children) process.kill('SIGKILL')
  }

  #fork(script: Script, index: number | undefined): ChildProcess {
    const { env, onLogLine } = this.#options
    const sockets = (index !== undefined && this.#options.sockets.fds[index]) || []
    const child = fork(getModulePath(import.meta.dirname, basename(script, '.ts')), {
      env: { ...env, ...createInheritedSocketsEnv(sockets.length) },
      execArgv: [...process.execArgv, ...HEAP_FLAGS],
      serialization: 'advanced', // metrics may be NaN, which JSON does not know
      stdio: ['inherit', onLogLine ? 'pipe' : 'inherit', 'inherit', ...sockets, 'ipc'],
    })
    if (onLogLine && child.stdout) createInterface({ input: child.stdout }).on('line', onLogLine)
    return child
  }

  #findFreeSockets(): number {
    const taken = new Set([...this.#children].map(({ sockets }) => sockets))
    return this.#options.sockets.fds.findIndex((_, index) => !taken.has(index))
  }

  #pingAll(): void {
    for (const child of this.#children) {
      if (child.phase === 'loading' || this.#closing) continue
      if (child.missedPings++ === 0) child.process.send('ping', () => {})
      if (child.missedPings >= MISSED_PINGS_BEFORE_RESCUE) this.#rescue(child)
      if (child.missedPings !== MISSED_PINGS_BEFORE_KILL) continue
      const { script, process } = child
      this.#options.log.warn({ script, pid: process.pid }, 'a child process does not answer and is killed')
      process.kill('SIGKILL')
    }
  }

  #rescue({ sockets }: Child): void {
    if (sockets === undefined) return
    this.#options.sockets.rescue(sockets, (socket) => {
      this.#rescued.push(socket)
      this.#handOver()
    })
  }

  #handOver(): void {
    const able = [...this.#children].filter(
      ({ process, phase, sockets, isReplaced, missedPings }) =>
        phase !== 'loading' &&
        process.connected &&
        sockets !== undefined &&
        !isReplaced &&
        missedPings < MISSED_PINGS_BEFORE_RESCUE,
    )
    if (able.length === 0) return // the next process that listens gets them
    for (const socket of this.#rescued.splice(0)) {
      const child = able[this.#handOverCount++ % able.length]
      child?.sent.push(socket)
      child?.process.send('connection', socket, { keepOpen: true }, () => {})
    }
  }
}

function stopChildProcess(child: ChildProcess): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.kill('SIGTERM')
  return promise
}
