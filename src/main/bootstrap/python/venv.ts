/** Creates a Python environment in place; its stamp comes last, so that one without it is made again. One process at a time does so, under a lock. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { poll } from '../../../platform/retry.ts'
import { describeHolder, type FileLock, tryLockWithPid } from '../file-lock.ts'
import { type ReportProgress, StartupError, withWaitNotice } from '../startup-report.ts'

const FULL_DISK_BYTES = 2 ** 20
const MAX_PROGRESS_CHARS = 60

/** Replaces an existing environment. The caller holds the lock. If the start is killed, the next one uses nothing of it. */
export async function buildVenv(files: VenvFiles, python: string, report: ReportProgress): Promise<void> {
  mkdirSync(files.venv, { recursive: true })
  accessSync(files.venv, constants.W_OK)
  try {
    rmSync(getStampPath(files.venv, 'requirements.txt'), { force: true })
    await createBareVenv(python, files.venv, report)
    await installPackages(files, 'requirements.txt', report)
    await withWaitNotice(report, () => 'compiling the packages', compilePackages(files))
    files.writeStamp('requirements.txt')
  } catch (error) {
    const explained = explainFullDisk(files, error) // before the space is freed
    await rm(files.venv, { recursive: true, force: true }).catch(() => {})
    throw explained
  }
}

/** Installs packages into the environment; the caller writes the stamp. Packages of an interrupted pip are installed again. */
export async function installPackages(files: VenvFiles, file: RequirementsFile, report: ReportProgress): Promise<void> {
  const options = [
    '--disable-pip-version-check',
    '--no-input',
    '--progress-bar=off',
    '--require-hashes',
    '--no-deps',
    '--ignore-installed', // pip considers a package installed if its metadata exists
    '--no-compile', // compilePackages takes a third of the time
  ]
  let lastLine = 'starting'
  const startedAt = Date.now()
  const install = runTetheredPython(
    files.python,
    'pip',
    ['install', ...options, '-r', files.getRequirementsPath(file)],
    (line) => {
      lastLine = line
    },
  )
  try {
    await withWaitNotice(
      report,
      () => `pip installs ${file}, for ${secondsSince(startedAt)} s now: ${lastLine.slice(0, MAX_PROGRESS_CHARS)}`,
      install,
    )
  } catch (error) {
    if (!(error instanceof PythonModuleError)) throw error
    throw new StartupError(
      `pip could not install ${file}. Check that this machine reaches the package index, or name a mirror in PIP_INDEX_URL, and start again. Its last output: ${error.summary}`,
      { cause: error },
    )
  }
}

/** With all processors, and without the tests of the packages, half of their code. pip uses one and compiles everything. */
async function compilePackages({ python, venv }: VenvFiles): Promise<void> {
  const args = ['-q', '-j', '0', '-x', 'site-packages/.+/tests/', join(venv, 'lib')]
  await runTetheredPython(python, 'compileall', args).catch((error) => {
    if (!(error instanceof PythonModuleError)) throw error // a file that this Python cannot compile is not imported either
  })
}

async function createBareVenv(python: string, folder: string, report: ReportProgress): Promise<void> {
  const startedAt = Date.now()
  try {
    await withWaitNotice(
      report,
      () => `${python} makes a virtual environment, for ${secondsSince(startedAt)} s now`,
      runTetheredPython(python, 'venv', ['--clear', folder]),
    )
  } catch (error) {
    if (!(error instanceof PythonModuleError)) throw error
    const advice = /ensurepip|No module named '?venv/.test(error.output)
      ? 'install its venv module (Debian: apt install python3-venv) and start again'
      : 'name another Python in PYTHON'
    throw new StartupError(
      `${python} could not create a virtual environment: ${advice}. Its last output: ${error.summary}`,
      {
        cause: error,
      },
    )
  }
}

function explainFullDisk({ root }: VenvFiles, cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException
  const full = [root, tmpdir()].find(isFull) ?? (code === 'ENOSPC' || code === 'EDQUOT' ? root : undefined)
  if (full === undefined) return cause
  return new StartupError(
    `The disk of ${full} is full. The Python environment takes 300 MB: free space, then start again.`,
    {
      cause,
    },
  )
}

function isFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize < FULL_DISK_BYTES
}

function secondsSince(startedAt: number): number {
  return Math.round((Date.now() - startedAt) / 1000)
}

/**
 * The module's stdin stays open as long as this process lives, even if this process is killed with SIGKILL. When it closes, the
 * process group kills itself: a pip that kept running would write into the environment that the next start creates.
 */
const TETHER = `
import os, runpy, signal, sys, threading
def end_with_parent():
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)
threading.Thread(target=end_with_parent, daemon=True).start()
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
`
const MAX_OUTPUT_CHARS = 4000

/** Rejects with PythonModuleError if the module fails. `onLine` is called with each line that it prints. */
export async function runTetheredPython(
  python: string,
  module: string,
  args: string[],
  onLine: (line: string) => void = () => {},
): Promise<void> {
  const child = spawn(python, ['-c', TETHER, module, ...args], { stdio: 'pipe', detached: true }) // a group of its own
  child.stdin.on('error', () => {}) // it may end before it is asked to
  let output = ''
  const collect = (stream: Readable, handleLine: (line: string) => void) => {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-MAX_OUTPUT_CHARS)
      for (const line of chunk.split('\n')) if (line.trim() !== '') handleLine(line.trim())
    })
  }
  collect(child.stdout, onLine)
  collect(child.stderr, () => {})
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.once('error', reject)
  child.once('close', resolve)
  const code = await promise
  if (code !== 0) throw new PythonModuleError(module, output)
}

export class PythonModuleError extends Error {
  /** The end of what the module printed. */
  readonly output: string

  constructor(module: string, output: string) {
    super(`python -m ${module} failed`)
    this.output = output.trim()
  }

  /** Last lines of the output. */
  get summary(): string {
    return this.output.split('\n').slice(-3).join(' / ')
  }
}

const POLL_INTERVAL_MS = 200
/** A slow network may take minutes for 100 MB of packages. */
const LOCK_TIMEOUT_MS = 15 * 60_000

/** Pinned packages, and the redis-server for machines without one. */
export type RequirementsFile = 'requirements.txt' | 'requirements-redis.txt'

/**
 * `ready`: the pinned packages are installed. `unusable`: it exists, but this user cannot reach or run its interpreter.
 * `incomplete`: an earlier start was interrupted, the pins have changed, or the interpreter is missing.
 */
export type VenvState = 'ready' | 'missing' | 'incomplete' | 'unusable'

export class VenvFiles {
  /** Folder that the environment is created in. */
  readonly root: string
  readonly venv: string
  readonly #pinFolders: Record<RequirementsFile, string>

  /** `pinFolders` are the folders of the requirements files. */
  constructor(root: string, pinFolders = { 'requirements.txt': root, 'requirements-redis.txt': root }) {
    this.root = root
    this.venv = join(root, '.venv')
    this.#pinFolders = pinFolders
  }

  getRequirementsPath(file: RequirementsFile): string {
    return join(this.#pinFolders[file], file)
  }

  get python(): string {
    return join(this.venv, 'bin', 'python')
  }

  getState(file: RequirementsFile): VenvState {
    try {
      accessSync(this.python, constants.X_OK)
      return readFileSync(getStampPath(this.venv, file), 'utf8') === this.#hash(file) ? 'ready' : 'incomplete'
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EACCES') return 'unusable'
      return existsSync(this.venv) ? 'incomplete' : 'missing'
    }
  }

  /** A stamp holds the hash of the installed pins, so that a later start costs one read. */
  writeStamp(file: RequirementsFile): void {
    writeFileSync(getStampPath(this.venv, file), this.#hash(file))
  }

  /** Undefined if another process holds the lock. */
  tryLock(): FileLock | undefined {
    return tryLockWithPid(join(this.root, '.venv-lock'), this.#pidFile)
  }

  /** Waits until other processes have prepared the environment, and reports within a second which process it waits for. */
  async lock(report: ReportProgress): Promise<FileLock> {
    const line = () =>
      `waiting for ${describeHolder(this.#pidFile, 'another process')}, which prepares the Python environment in ${this.venv}`
    const advice = 'if it is stuck, end it with kill -9, which does no harm'
    const released = poll(() => this.tryLock(), { everyMs: POLL_INTERVAL_MS, timeoutMs: LOCK_TIMEOUT_MS })
    const lock = await withWaitNotice(report, () => `${line()}; ${advice}`, released)
    if (lock) return lock
    throw new StartupError(`Gave up ${line()} after ${LOCK_TIMEOUT_MS / 60_000} minutes: ${advice}, then start again`)
  }

  get #pidFile(): string {
    return join(this.root, '.venv-lock.pid')
  }

  #hash(file: RequirementsFile): string {
    return createHash('sha256')
      .update(readFileSync(this.getRequirementsPath(file)))
      .digest('hex')
  }
}

function getStampPath(venv: string, file: RequirementsFile): string {
  return join(venv, `.installed-${file}`)
}
