/** A run's checkpoint taken and restored: here or on another server, under the same name or another. */
import { Fault } from '../faults.ts'
import type { Checkpoints } from '../store/checkpoints.ts'
import type { Checkpoint, Forgotten } from '../words/checkpoint.ts'
import type { OpenRun } from './open-run.ts'
import { merged, type RunBook } from './run-book.ts'

const TRIES = 5

export class Restoring {
  readonly #runs: RunBook
  readonly #checkpoints: Checkpoints
  readonly #engineVersion: string

  constructor(runs: RunBook, checkpoints: Checkpoints, engineVersion: string) {
    this.#runs = runs
    this.#checkpoints = checkpoints
    this.#engineVersion = engineVersion
  }

  /** Throws `unknown_run`. */
  async take(name: string): Promise<Checkpoint> {
    const run = await this.#runs.find(name)
    const { named, origin } = run
    const identity = { format: 1 as const, engine: this.#engineVersion, run: name, origin }
    const stored = await this.#checkpoints.read(run)
    return { ...identity, created_at: new Date().toISOString(), settings: named, ...stored }
  }

  /** Begins a new epoch of the run, which need not be there. Throws `engine_version_mismatch`. */
  async restore(name: string, checkpoint: Checkpoint): Promise<{ run: OpenRun; forgotten: Forgotten }> {
    if (checkpoint.engine !== this.#engineVersion) {
      throw new Fault(
        'engine_version_mismatch',
        `The checkpoint is of reasoning-gym ${checkpoint.engine}, this server has ${this.#engineVersion}: its items would be others`,
      )
    }
    const settings = merged({}, checkpoint.settings)
    await this.#runs.checkConfigs(this.#runs.check(settings))
    for (let k = 0; k < TRIES; k++) {
      const before = await this.#runs.look(name)
      const forgotten = await this.#checkpoints.held(before)
      if (await this.#checkpoints.restore(name, before, { ...checkpoint, settings }))
        return { run: await this.#runs.find(name), forgotten }
    }
    throw new Fault('redis_unavailable', 'The run is being restored from several sides at once; ask again')
  }
}
