/** Files of the Python environment: whether it can be used, and the lock under which one process creates it. */
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { poll } from '../../../platform/retry.ts'
import { describeHolder, type FileLock, tryLockWithPid } from '../file-lock.ts'
import { StartupError } from '../startup-error.ts'
import { type ReportProgress, withWaitNotice } from '../wait-notice.ts'

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
  readonly #pins: string

  /** `pins` is the folder of the requirements files. */
  constructor(root: string, pins = root) {
    this.root = root
    this.venv = join(root, '.venv')
    this.#pins = pins
  }

  getRequirementsPath(file: RequirementsFile): string {
    return join(this.#pins, file)
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
  writeStamp(venv: string, file: RequirementsFile): void {
    writeFileSync(getStampPath(venv, file), this.#hash(file))
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
