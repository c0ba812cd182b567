/** `/runs`: shows and changes runs for clients. */

import type { CurriculumPoint, Run, RunLifecycle } from '@reasoning-gym-server/contract/run'
import type { RunCondition } from '@reasoning-gym-server/contract/run-condition'
import type { SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { coalesceReads } from '../../platform/coalesce-reads.ts'
import type { Checkpoint, DiscardedCounts } from './checkpoint-document.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { Runs, RunUpdate, UpdateOptions } from './runs.ts'
import type { ItemQueue } from './sequence/item-queue.ts'

interface RunRequestsDeps {
  runs: Runs
  checkpoints: Checkpoints
  itemQueue: Pick<ItemQueue, 'schedulePrefetch'>
}

export interface UpdatedRun extends Pick<RunUpdate, 'created' | 'changed' | 'restarts'> {
  run: Run
}

export interface RestoredRun extends Run {
  epoch: number
  forgotten: DiscardedCounts
}

export class RunRequests {
  readonly #deps: RunRequestsDeps
  /** Hundreds of workers poll one run, so concurrent calls share one read. */
  readonly #buildView: (name: string) => Promise<Run>

  constructor(deps: RunRequestsDeps) {
    this.#deps = deps
    this.#buildView = coalesceReads(async (name) => deps.runs.buildView(await deps.runs.require(name)))
  }

  /** Throws `unknown_run`, and `run_recreated` if the run does not meet the condition. */
  async get(name: string, condition?: RunCondition): Promise<Run> {
    const { runs } = this.#deps
    return condition === undefined ? this.#buildView(name) : runs.buildView(await runs.require(name, condition))
  }

  /** Lists the runs whose names `isVisible` accepts, with the archived ones only on request. */
  async list(isVisible: (name: string) => boolean, { archived }: { archived: boolean }): Promise<Run[]> {
    const { runs } = this.#deps
    const listed = (await runs.list(isVisible)).filter(({ lifecycle }) => archived || lifecycle !== 'archived')
    return Promise.all(listed.map((run) => runs.buildView(run)))
  }

  /** Marks a run as finished, archived or active. Throws `unknown_run` and `run_recreated`. */
  async changeLifecycle(name: string, lifecycle: RunLifecycle, condition?: RunCondition): Promise<Run> {
    const { runs } = this.#deps
    return runs.buildView(await runs.changeLifecycle(name, lifecycle, condition))
  }

  /**
   * Creates the run if there is none. Throws `would_restart`, `run_recreated` and `run_exists`, depending on the
   * options.
   */
  async update(name: string, change: SettingsChange, options: UpdateOptions): Promise<UpdatedRun> {
    const { runs, itemQueue } = this.#deps
    const { run, created, changed, restarts } = await runs.update(name, change, options)
    void itemQueue.schedulePrefetch(run)
    return { run: await runs.buildView(run), created, changed, restarts }
  }

  /** Restores a run from its checkpoint under this name and starts a new epoch. */
  async restore(name: string, checkpoint: Checkpoint, condition?: RunCondition): Promise<RestoredRun> {
    const { runs, checkpoints, itemQueue } = this.#deps
    const { run, forgotten } = await checkpoints.restore(name, checkpoint, condition)
    void itemQueue.schedulePrefetch(run)
    return { ...(await runs.buildView(run)), epoch: run.epoch, forgotten }
  }

  /**
   * Lists the points of the curriculum's history, oldest first, optionally of one task. Throws `unknown_run` and
   * `run_recreated`.
   */
  async listCurriculumPoints(
    name: string,
    task: string | undefined,
    condition?: RunCondition,
  ): Promise<CurriculumPoint[]> {
    const { runs } = this.#deps
    const points = await runs.listCurriculumPoints(await runs.require(name, condition))
    return task === undefined ? points : points.filter((point) => point.task === task)
  }

  /** Throws `unknown_run`. */
  async delete(name: string, condition?: RunCondition): Promise<void> {
    await this.#deps.runs.delete(name, condition)
  }
}
