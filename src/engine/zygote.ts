/** The warm Python process that forks Python workers, and the socket on which they report. Started again when it ends. */
import type { ChildProcess } from 'node:child_process'
import { chmodSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { spawnProcess } from '../platform/spawn-process.ts'
import type { PythonWorkerKind, SandboxLayers } from './engine.ts'
import { createFrameDecoder, encodeFrame } from './frames.ts'
import { createPythonEnv, DEFAULT_HASH_SEED, forkCommand, locateLibrarySocket } from './library-process.ts'
import { ProcessDeadline } from './process-deadline.ts'

interface ZygoteEvents {
  /** A worker has connected, behind these sandbox layers. */
  onWorkerConnected(kind: PythonWorkerKind, pid: number, socket: Socket, layers: SandboxLayers): void
  /** A worker has ended before it connected. */
  onForkFailed(kind: PythonWorkerKind, reason: string): void
  /** The zygote is gone, and every worker with it. */
  onExit(reason: string): void
  onReady(version: string): void
}

export interface ZygoteOptions {
  /** The interpreter that has the library. */
  pythonPath: string
  /** Of the process that has imported the library. Without it, each zygote imports the library itself. */
  librarySocket?: string | undefined
  /** Places of custom tasks, as TASKS_PATH lists them. */
  taskPlaces?: readonly string[]
  /** Seed of Python's string hashes, which decides the order of sets. Default: 1, on which the library's items depend. */
  hashSeed?: number
  /** What it may take to fork a worker that connects, or to end one. A zygote that takes longer is restarted. Default: 20 s. */
  zygoteDeadlineMs?: number
}

const DEFAULT_DEADLINE_MS = 20_000
/** A zygote that is forked may wait for the import of the library. */
const START_DEADLINE_FACTOR = 3

const ZYGOTE_SCRIPT = join(import.meta.dirname, 'python', 'zygote.py')
const RESTART_DELAYS_MS = [200, 1000, 5000, 15000]
const MAX_STDERR_CHARS = 4000
/** The zygote reports the end of a worker at once, or has ended itself. */
const EXIT_REPORT_TIMEOUT_MS = 1000

/**
 * States: starting → ready → lost → (after a pause) starting …; `close` ends it for good.
 * Python workers are children of the zygote. Only the zygote kills them, so a reused PID is never hit.
 */
export class Zygote {
  readonly #options: ZygoteOptions
  readonly #events: ZygoteEvents
  readonly #folder = mkdtempSync(join(tmpdir(), 'rgs-engine-'))
  readonly #server: Server
  /** Python workers that have connected and not ended. */
  readonly #connectedPids = new Set<number>()
  /** By the PID of a worker that has disconnected. */
  readonly #exitWaits = new Map<number, (isAlone: boolean) => void>()
  readonly #sockets = new Set<Socket>()
  /** Forked workers that have neither connected nor ended. */
  #awaitedForks = 0
  /** Workers that are to be killed. */
  readonly #awaitedKills = new Set<number>()
  #deadline: ProcessDeadline | undefined
  #child: ChildProcess | undefined
  #stderr = ''
  #failures = 0
  #isReady = false
  /** The process that has imported the library forked no zygote in time. */
  #isLibraryStuck = false
  #restartTimer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: ZygoteOptions, events: ZygoteEvents) {
    this.#options = options
    this.#events = events
    this.#server = createServer((socket) => this.#handleConnection(socket))
    this.#server.on('error', (error) => events.onExit(error.message))
    this.#server.listen(this.#socketPath, () => {
      chmodSync(this.#socketPath, 0o600) // Python workers connect before they become another user
      this.#start()
    })
  }

  fork(kind: PythonWorkerKind): void {
    this.#send({ fork: kind })
    this.#awaitedForks++
    this.#watch()
  }

  /** Of a worker that has disconnected: whether it ended alone, rather than with the zygote and all other workers. */
  async hasExitedAlone(pid: number): Promise<boolean> {
    if (!this.#child || !this.#connectedPids.has(pid)) return this.#child !== undefined
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#exitWaits.set(pid, resolve)
    const timer = setTimeout(() => resolve(true), EXIT_REPORT_TIMEOUT_MS)
    const isAlone = await promise
    clearTimeout(timer)
    this.#exitWaits.delete(pid)
    return isAlone
  }

  kill(pid: number): void {
    this.#send({ kill: pid })
    if (!this.#connectedPids.has(pid)) return
    this.#awaitedKills.add(pid)
    this.#watch()
  }

  /** Ends it. The next one, which starts soon, reads the places of TASKS_PATH again. */
  restart(): void {
    this.#child?.kill('SIGKILL')
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#restartTimer)
    this.#deadline?.stop()
    this.#child?.kill('SIGKILL') // its Python workers die with it
    this.#server.close()
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 }) // while they still write
  }

  get #socketPath(): string {
    return join(this.#folder, 'workers.sock')
  }

  #start(): void {
    if (this.#closed) return
    this.#stderr = ''
    const { pythonPath, librarySocket, taskPlaces = [], hashSeed = DEFAULT_HASH_SEED } = this.#options
    const zygote = ['-s', '-B', ZYGOTE_SCRIPT, this.#socketPath, ...taskPlaces]
    const socket = librarySocket === undefined ? undefined : locateLibrarySocket(librarySocket, hashSeed)
    const isForked = socket !== undefined && !this.#isLibraryStuck
    const child = spawnProcess(
      pythonPath,
      isForked ? [...forkCommand(socket, pythonPath), ...zygote] : zygote,
      { env: createPythonEnv(hashSeed), stdio: ['ignore', 'ignore', 'pipe', 'pipe'] },
      (how) => this.#handleExit(child, `the engine process ${how} ${this.#lastStderrLine}`),
    )
    this.#child = child
    if (child?.pid === undefined) return
    this.#deadline = new ProcessDeadline(child.pid, () => {
      this.#isLibraryStuck = !this.#isReady
      this.restart()
    })
    if (isForked) this.#deadline.start(START_DEADLINE_FACTOR * this.#deadlineMs)
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-MAX_STDERR_CHARS)
    })
    const read = createFrameDecoder(
      (message) => this.#handleMessage(message),
      () => child.kill('SIGKILL'),
    )
    this.#control?.on('data', read)
    this.#control?.on('error', () => {}) // its end is seen as the child's exit
  }

  /** Allows the deadline from now on, while something is awaited: a zygote or a worker that hangs must not keep callers waiting. */
  #watch(): void {
    if (this.#awaitedForks > 0 || this.#awaitedKills.size > 0) this.#deadline?.start(this.#deadlineMs)
    else this.#deadline?.stop()
  }

  get #deadlineMs(): number {
    return this.#options.zygoteDeadlineMs ?? DEFAULT_DEADLINE_MS
  }

  get #control(): Duplex | undefined {
    const stream = this.#child?.stdio[3]
    return stream && 'write' in stream && 'read' in stream ? (stream as Duplex) : undefined // a 'pipe' is a socket
  }

  get #lastStderrLine(): string {
    return this.#stderr.trim().split('\n').at(-1) ?? ''
  }

  #handleMessage(message: unknown): void {
    const { ready, exited, kind } = message as { ready?: string; exited?: number; kind?: PythonWorkerKind } // as zygote.py says
    if (ready !== undefined) {
      this.#failures = 0
      this.#isReady = true
      this.#isLibraryStuck = false
      this.#watch()
      this.#events.onReady(ready)
    }
    if (exited === undefined || kind === undefined) return
    this.#exitWaits.get(exited)?.(true)
    this.#awaitedKills.delete(exited)
    const hadConnected = this.#connectedPids.delete(exited)
    if (!hadConnected) this.#awaitedForks--
    this.#watch()
    if (!hadConnected)
      this.#events.onForkFailed(kind, `a Python worker exited during startup ${this.#lastStderrLine}`.trim())
  }

  #handleExit(child: ChildProcess | undefined, reason: string): void {
    if (this.#closed || child !== this.#child) return
    this.#control?.destroy() // the process that forks zygotes may still hold its other end
    this.#child = undefined
    this.#isReady = false
    for (const socket of this.#sockets) socket.destroy() // no other zygote can kill its workers
    this.#connectedPids.clear()
    for (const resolve of this.#exitWaits.values()) resolve(false)
    this.#awaitedKills.clear()
    this.#awaitedForks = 0
    this.#deadline?.stop()
    this.#events.onExit(reason.trim())
    const pause = RESTART_DELAYS_MS[Math.min(this.#failures++, RESTART_DELAYS_MS.length - 1)] ?? 0
    this.#restartTimer = setTimeout(() => this.#start(), pause)
  }

  #send(message: unknown): void {
    this.#control?.write(encodeFrame(message))
  }

  #handleConnection(socket: Socket): void {
    socket.on('error', () => {}) // its end is seen as 'close'
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    const first = createFrameDecoder(
      (message) => {
        socket.off('data', first)
        const { kind, pid, layers } = message as unknown as {
          kind: PythonWorkerKind
          pid: number
          layers: SandboxLayers
        } // the first words of worker.py
        this.#connectedPids.add(pid)
        this.#awaitedForks--
        this.#watch()
        this.#events.onWorkerConnected(kind, pid, socket, layers)
      },
      () => socket.destroy(),
    )
    socket.on('data', first)
  }
}
