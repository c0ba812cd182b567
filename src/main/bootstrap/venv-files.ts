/** Paths of the Python environment, and whether it can be used. */
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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

  get lock(): string {
    return join(this.root, '.venv-lock')
  }

  /** File with the process ID of the lock's holder. */
  get lockHolder(): string {
    return join(this.root, '.venv-lock.pid')
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

  #hash(file: RequirementsFile): string {
    return createHash('sha256')
      .update(readFileSync(this.getRequirementsPath(file)))
      .digest('hex')
  }
}

function getStampPath(venv: string, file: RequirementsFile): string {
  return join(venv, `.installed-${file}`)
}
