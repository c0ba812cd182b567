/** Creates and restores checkpoints of runs. A checkpoint can be restored on another server and under another name. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { RunCondition } from '@reasoning-gym-server/contract/run-condition'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import { CHECKPOINT_VERSION, type Checkpoint, type DiscardedCounts } from './checkpoint-document.ts'
import type { CheckpointRepository } from './checkpoint-repository.ts'
import { validateCheckpoint } from './checkpoint-validation.ts'
import type { EpochRemoval } from './epoch-removal.ts'
import type { StoredFrontier } from './frontier/fold.ts'
import type { FrontierCurriculum } from './frontier/frontier-curriculum.ts'
import type { ResolvedRun } from './resolved-run.ts'
import { assertRunCondition } from './run-condition.ts'
import { runContendedError } from './run-errors.ts'
import { mergeSettings, type Runs } from './runs.ts'

const RESTORE_RETRY_LIMIT = 5

interface CheckpointsDeps {
  runs: Runs
  repository: CheckpointRepository
  removal: EpochRemoval
  frontier: Pick<FrontierCurriculum, 'fold' | 'foldInto'>
  tasks: TaskCatalog
  engineVersion: string
}

export class Checkpoints {
  readonly #runs: Runs
  readonly #repository: CheckpointRepository
  readonly #removal: EpochRemoval
  readonly #frontier: CheckpointsDeps['frontier']
  readonly #tasks: TaskCatalog
  readonly #engineVersion: string

  constructor({ runs, repository, removal, frontier, tasks, engineVersion }: CheckpointsDeps) {
    this.#runs = runs
    this.#repository = repository
    this.#removal = removal
    this.#frontier = frontier
    this.#tasks = tasks
    this.#engineVersion = engineVersion
  }

  /** Throws `unknown_run`. */
  async create(name: string, condition?: RunCondition): Promise<Checkpoint> {
    const run = await this.#runs.require(name, condition)
    const { explicitSettings: settings } = run
    const identity = {
      version: CHECKPOINT_VERSION as typeof CHECKPOINT_VERSION,
      engine: this.#engineVersion,
      run: name,
    }
    await this.#frontier.fold(run)
    const { frontiers, evidence, ...stored } = await this.#repository.read(run)
    // Folds newer evidence into the checkpoint only. The list still holds it for the run.
    const { tasks, points } = this.#frontier.foldInto(run, evidence, frontiers)
    const curriculum = Object.fromEntries(
      [...frontiers, ...tasks].map(([task, folded]) => [task, formatFrontier(folded)]),
    )
    return {
      ...identity,
      created_at: new Date(fleetNow()).toISOString(),
      settings,
      ...stored,
      curriculum,
      curriculum_history: [...stored.curriculum_history, ...points],
    }
  }

  /**
   * Starts a new epoch of the run and creates the run if necessary. Throws `engine_version_mismatch` and
   * `invalid_request`.
   */
  async restore(
    name: string,
    checkpoint: Checkpoint,
    condition?: RunCondition,
  ): Promise<{ run: ResolvedRun; forgotten: DiscardedCounts }> {
    if (checkpoint.engine !== this.#engineVersion) {
      throw new ServiceError(
        'engine_version_mismatch',
        `The checkpoint was created with reasoning-gym ${checkpoint.engine}, but this server runs ${this.#engineVersion}, which makes other items. Restore it on a server with the same version.`,
      )
    }
    const known = new Set(this.#tasks.list().map(({ name: task }) => task))
    validateCheckpoint(checkpoint, (task) => known.has(task))
    const settings = mergeSettings({}, checkpoint.settings)
    await this.#runs.validateTaskConfigs(this.#runs.validateSettings(settings))
    for (let k = 0; k < RESTORE_RETRY_LIMIT; k++) {
      const before = await this.#runs.get(name)
      assertRunCondition(name, before, condition)
      const forgotten = await this.#repository.countDiscardedState(before)
      if (!(await this.#repository.restore(name, before, { ...checkpoint, settings }))) continue
      if (before) await this.#removal.schedule(before)
      return { run: await this.#runs.require(name), forgotten }
    }
    throw runContendedError(name)
  }
}

function formatFrontier({ state, weights }: StoredFrontier): Checkpoint['curriculum'][string] {
  const { frontier, ...level } = state
  return { ...level, ...(frontier && weights && { frontier: { ...frontier, weights: [...weights] } }) }
}
