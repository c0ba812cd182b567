/** The warm Python process that forks hosts, and the socket on which they report. Started again when it ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { encodeFrame, frameReader } from './frames.ts'
import type { Layers } from './layers.ts'

export type HostKind = 'items' | 'score'

interface Events {
  /** A host has connected, behind these walls. */
  onHost(kind: HostKind, pid: number, socket: Socket, layers: Layers): void
  /** A host has ended before it connected. */
  onUnborn(kind: HostKind, reason: string): void
  /** The zygote is gone, and every host with it. */
  onLost(reason: string): void
  onReady(version: string): void
}

const SCRIPT = join(import.meta.dirname, 'host', 'zygote.py')
const RESTART_MS = [200, 1000, 5000, 15000]
const STDERR_KEPT = 4000

/**
 * States: starting → ready → lost → (after a pause) starting …; `close` ends it for good.
 * Hosts are the zygote's children: it alone kills them, so that a pid that was given anew is never hit.
 */
export class Zygote {
  readonly #python: string
  readonly #events: Events
  readonly #folder = mkdtempSync(join(tmpdir(), 'rgs-engine-'))
  readonly #server: Server
  /** Hosts that have connected and not ended. */
  readonly #greeted = new Set<number>()
  #child: ChildProcess | undefined
  #stderr = ''
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(python: string, events: Events) {
    this.#python = python
    this.#events = events
    this.#server = createServer((socket) => this.#greet(socket))
    this.#server.on('error', (error) => events.onLost(error.message))
    this.#server.listen(this.#socketPath, () => {
      chmodSync(this.#socketPath, 0o600) // hosts connect before they become another user
      this.#start()
    })
  }

  fork(kind: HostKind): void {
    this.#say({ fork: kind })
  }

  kill(pid: number): void {
    this.#say({ kill: pid })
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#child?.kill('SIGKILL') // its hosts die with it
    this.#server.close()
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 }) // while they still write
  }

  get #socketPath(): string {
    return join(this.#folder, 'hosts.sock')
  }

  #start(): void {
    if (this.#closed) return
    this.#stderr = ''
    // Only what Python needs: no secret of ours reaches a process that runs the library's programs.
    const child = spawn(this.#python, ['-s', '-B', SCRIPT, this.#socketPath], {
      env: { PYTHONHASHSEED: '1', PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', OPENBLAS_NUM_THREADS: '1' },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_KEPT)
    })
    child.once('error', (error) => this.#lost(child, error.message))
    child.once('exit', (code, signal) =>
      this.#lost(child, `the engine process ended (${signal ?? code}) ${this.#lastWords}`),
    )
    const read = frameReader((message) => this.#hear(message))
    this.#control?.on('data', read)
    this.#control?.on('error', () => {}) // its end is seen as the child's exit
  }

  get #control(): Duplex | undefined {
    const stream = this.#child?.stdio[3]
    return stream && 'write' in stream && 'read' in stream ? (stream as Duplex) : undefined // a 'pipe' is a socket
  }

  get #lastWords(): string {
    return this.#stderr.trim().split('\n').at(-1) ?? ''
  }

  #hear(message: unknown): void {
    const { ready, exited, kind } = message as { ready?: string; exited?: number; kind?: HostKind } // as zygote.py says
    if (ready !== undefined) {
      this.#failures = 0
      this.#events.onReady(ready)
    }
    if (exited === undefined || kind === undefined) return
    if (!this.#greeted.delete(exited)) this.#events.onUnborn(kind, `a host ended as it began ${this.#lastWords}`.trim())
  }

  #lost(child: ChildProcess, reason: string): void {
    if (this.#closed || child !== this.#child) return
    this.#child = undefined
    this.#greeted.clear()
    this.#events.onLost(reason.trim())
    const pause = RESTART_MS[Math.min(this.#failures++, RESTART_MS.length - 1)] ?? 0
    this.#timer = setTimeout(() => this.#start(), pause)
  }

  #say(message: unknown): void {
    this.#control?.write(encodeFrame(message))
  }

  #greet(socket: Socket): void {
    socket.on('error', () => {}) // its end is seen as 'close'
    const first = frameReader((message) => {
      socket.off('data', first)
      const { kind, pid, layers } = message as { kind: HostKind; pid: number; layers: Layers } // the first words of host.py
      this.#greeted.add(pid)
      this.#events.onHost(kind, pid, socket, layers)
    })
    socket.on('data', first)
  }
}
