/** A checkout that has never been started: the files of this one, its node_modules, no .venv. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildChildEnvironment } from '../../src/platform/installation.ts'
import { waitUntil } from '../support/wait.ts'
import { getFreePort } from '../support/with-server.ts'

const PROJECT = join(import.meta.dirname, '..', '..')
const PARTS = ['.npmrc', 'bin', 'src', 'routes', 'packages', 'suites', 'package.json', 'requirements.txt']
const POLL_INTERVAL_MS = 5

export class Checkout {
  readonly root = mkdtempSync(join(tmpdir(), 'rgs-checkout-'))

  readonly #starts: NpmStart[] = []

  constructor() {
    for (const part of PARTS) cpSync(join(PROJECT, part), join(this.root, part), { recursive: true })
    symlinkSync(join(PROJECT, 'node_modules'), join(this.root, 'node_modules'))
  }

  /** Deletes all that starts have made. */
  clean(): void {
    for (const name of readdirSync(this.root))
      if (name.startsWith('.venv') || name.startsWith('data')) rmSync(join(this.root, name), { recursive: true })
  }

  has(pattern: string): boolean {
    return globSync(join(this.root, pattern)).length > 0
  }

  async start(dataDir = 'data'): Promise<NpmStart> {
    const start = new NpmStart(this.root, dataDir, await getFreePort())
    this.#starts.push(start)
    return start
  }

  /** Waits until no process of this checkout is left but, on request, the private Redis, which the next start ends. */
  async waitUntilIdle(allowed?: string): Promise<void> {
    const list = () => listCommands(this.root).filter((command) => allowed === undefined || !command.includes(allowed))
    await waitUntil('all processes of the checkout have ended', () => list().length === 0, { timeoutMs: 30_000 })
  }

  /** Ends what still runs. */
  async remove(): Promise<void> {
    for (const start of this.#starts.filter(({ hasExited }) => !hasExited)) {
      start.signal('SIGINT', 'group')
      await start.waitUntilExited()
    }
    rmSync(this.root, { recursive: true, force: true, maxRetries: 20 })
  }
}

/** `npm start` in a process group of its own. */
export class NpmStart {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #port: number
  readonly #exited: Promise<unknown>
  readonly startedAt = Date.now()
  #output = ''

  constructor(root: string, dataDir: string, port: number) {
    this.#folder = join(root, dataDir)
    this.#port = port
    this.#child = spawn('npm', ['start'], {
      cwd: root,
      env: buildChildEnvironment({
        PORT: String(port),
        DATA_DIR: this.#folder,
        API_PROCESSES: '1',
        WORKERS: '1',
        PYTHON_WORKERS: '1',
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString()
      })
    this.#exited = once(this.#child, 'exit')
  }

  get output(): string {
    return this.#output
  }

  /** The process that the user would name in `kill`. */
  get serverPid(): number {
    return Number(readFileSync(join(this.#folder, 'server.pid'), 'utf8'))
  }

  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  signal(signal: NodeJS.Signals, whole: 'group' | 'server'): void {
    process.kill(whole === 'group' ? -(this.#child.pid ?? 0) : this.serverPid, signal)
  }

  async waitUntilExited(): Promise<void> {
    await this.#exited
  }

  /** False if the server was ready, or had ended, before. */
  async reaches(isThere: () => boolean): Promise<boolean> {
    for (;;) {
      if (isThere()) return true
      if (this.hasExited || this.#output.includes('reasoning-gym-server is at')) return false
      await sleep(POLL_INTERVAL_MS)
    }
  }

  /** Throws what it printed if it does not get there. */
  async waitUntilReady(timeoutMs: number): Promise<void> {
    for (const deadline = Date.now() + timeoutMs; ; await sleep(100)) {
      const ready = await fetch(`http://127.0.0.1:${this.#port}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(
        () => undefined,
      )
      if (ready?.ok) return
      if (this.hasExited || Date.now() > deadline)
        throw new Error(`${this.hasExited ? 'it ended' : 'not ready in time'}:\n${this.#output}`)
    }
  }
}

/** Command lines that name the folder. */
function listCommands(folder: string): string[] {
  return globSync('/proc/[0-9]*/cmdline').flatMap((path) => {
    try {
      const command = readFileSync(path, 'utf8').replaceAll('\0', ' ')
      return command.includes(folder) ? [command] : []
    } catch {
      return [] // it has ended
    }
  })
}
