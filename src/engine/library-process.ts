/**
 * A Python process that has imported the library, from which the zygotes of all processes of a server are forked, so that the
 * import costs its second and its memory once. Started again when it ends; meanwhile zygotes import the library themselves.
 */
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnProcess } from '../platform/spawn-process.ts'

const SCRIPT = join(import.meta.dirname, 'python', 'library_process.py')
const RESTART_DELAY_MS = 5000

export class LibraryProcess {
  readonly socket: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'rgs-library-'))
  readonly #pythonPath: string
  readonly #hashSeed: number
  #child: ChildProcess | undefined
  #restartTimer: NodeJS.Timeout | undefined

  constructor(pythonPath: string, hashSeed = DEFAULT_HASH_SEED) {
    this.#pythonPath = pythonPath
    this.#hashSeed = hashSeed
    this.socket = join(this.#folder, 'library.sock')
    this.#start()
  }

  /** Imports the library again, as it is on disk. */
  restart(): void {
    this.#end()
    this.#start()
  }

  close(): void {
    this.#end()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #end(): void {
    clearTimeout(this.#restartTimer)
    const child = this.#child
    this.#child = undefined
    child?.kill('SIGKILL')
  }

  #start(): void {
    rmSync(this.socket, { force: true })
    const options: SpawnOptions = {
      env: createPythonEnv(this.#hashSeed),
      stdio: ['pipe', 'ignore', 'inherit'], // it ends when the pipe closes, and so with this process
    }
    const args = ['-s', '-B', SCRIPT, 'serve', this.socket]
    const child = spawnProcess(this.#pythonPath, args, options, () => {
      if (child === this.#child) this.#restartTimer = setTimeout(() => this.#start(), RESTART_DELAY_MS)
    })
    this.#child = child
  }
}

/** Seed of Python's string hashes, which decides the order of sets; the library's items depend on it. */
export const DEFAULT_HASH_SEED = 1

/** Where the process for another seed listens, if there is one. `socket` is that of the process for the default seed. */
export const locateLibrarySocket = (socket: string, hashSeed: number): string =>
  hashSeed === DEFAULT_HASH_SEED ? socket : `${socket}-${hashSeed}`

/** Only what Python needs: no secret of the server reaches a process that runs the library's programs. */
export function createPythonEnv(hashSeed: number): NodeJS.ProcessEnv {
  return { PYTHONHASHSEED: String(hashSeed), PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', OPENBLAS_NUM_THREADS: '1' }
}

/** The arguments before those of a zygote that make Python fork it from the process at `socket`. */
export function forkCommand(socket: string, pythonPath: string): string[] {
  return ['-I', '-S', '-B', SCRIPT, 'fork', socket, pythonPath]
}
