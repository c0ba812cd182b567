/** Runs and their settings. The first use of a run creates it. */

import { canonicalJson } from '@reasoning-gym-server/codec/content-hash'
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { CurriculumPoint, Run, RunLifecycle } from '@reasoning-gym-server/contract/run'
import type { RunCondition } from '@reasoning-gym-server/contract/run-condition'
import type { RunSettings, SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { PUBLIC_BENCHMARKS, resolveSettings } from '@reasoning-gym-server/contract/run-settings'
import { LRUCache } from 'lru-cache'
import type { Engine } from '../../engine/engine.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import type { EpochRemoval } from './epoch-removal.ts'
import type { EpochRepository } from './epoch-repository.ts'
import { computeStart, type RunEvals } from './frontier/curriculum-start.ts'
import type { StoredFrontier } from './frontier/fold.ts'
import type { FrontierCurriculum } from './frontier/frontier-curriculum.ts'
import type { TaskFrontiers } from './frontier/task-frontiers.ts'
import type { RecreatedRuns } from './recreated-runs.ts'
import { countBufferOccupancy, type RunRepository } from './repository.ts'
import { type ResolvedRun, resolveRun } from './resolved-run.ts'
import { assertRunCondition, meetsRunCondition } from './run-condition.ts'
import type { RunDumps } from './run-dumps.ts'
import { runContendedError, runExistsError, runRestoredError } from './run-errors.ts'
import { buildRunView } from './run-view.ts'
import type { PositionRepository } from './sequence/position-repository.ts'
import { buildTaskPlans } from './sequence/sequence.ts'
import { assertTaskConfigs } from './task-configs.ts'

/** Settings for which null is a value. For all others, null restores the default. */
const NULLABLE_SETTINGS = new Set(['system_prompt'])
/** Changing these settings restarts the item sequence. */
const RESTART_SETTINGS = ['seed', 'tasks', 'exclude'] as const
/** Changing these settings keeps the sequence but discards the prefetched items. */
const REMAKE_SETTINGS = [
  'complexity_mode',
  'difficulty',
  'sampling',
  'scoring',
  'curriculum_start',
  'exclude_eval_items',
  'avoid_repeated_items',
]
const UPDATE_RETRY_LIMIT = 20
/** Number of runs cached as this process last read them. */
const RUN_CACHE_SIZE = 1000

export interface RunUpdate {
  run: ResolvedRun
  created: boolean
  changed: string[]
  restarts: string[]
}

export interface UpdateOptions {
  /** Allows a change that restarts the item sequence. */
  restart: boolean
  condition?: RunCondition | undefined
  /** Rejects a run that exists. */
  createOnly?: boolean
  /** Caller that must have access to the eval of `curriculum_start`. */
  caller?: Caller
}

interface RunsDeps {
  repository: RunRepository
  epochs: EpochRepository
  removal: EpochRemoval
  recreated: RecreatedRuns
  positions: PositionRepository
  frontier: Pick<FrontierCurriculum, 'fold'>
  frontiers: TaskFrontiers
  tasks: TaskCatalog
  dumps: RunDumps
  evals: RunEvals
  engine: Pick<Engine, 'health' | 'canonicalizeConfig' | 'version'>
}

export class Runs {
  readonly #repository: RunRepository
  readonly #epochs: EpochRepository
  readonly #removal: EpochRemoval
  readonly #recreated: RecreatedRuns
  readonly #positions: PositionRepository
  readonly #frontier: RunsDeps['frontier']
  readonly #frontiers: TaskFrontiers
  readonly #evals: RunEvals
  readonly #tasks: TaskCatalog
  readonly #dumps: RunDumps
  readonly #engine: RunsDeps['engine']
  readonly #cache = new LRUCache<string, ResolvedRun>({ max: RUN_CACHE_SIZE })

  constructor({
    repository,
    recreated,
    epochs,
    removal,
    positions,
    frontier,
    frontiers,
    tasks,
    dumps,
    evals,
    engine,
  }: RunsDeps) {
    this.#repository = repository
    this.#recreated = recreated
    this.#epochs = epochs
    this.#removal = removal
    this.#positions = positions
    this.#frontier = frontier
    this.#frontiers = frontiers
    this.#evals = evals
    this.#tasks = tasks
    this.#dumps = dumps
    this.#engine = engine
  }

  /** Throws `unknown_run`, and `run_recreated` if the run does not meet the condition. */
  async require(name: string, condition?: RunCondition): Promise<ResolvedRun> {
    const run = await this.get(name)
    assertRunCondition(name, run, condition)
    if (!run)
      throw new ServiceError(
        'unknown_run',
        `There is no run named ${JSON.stringify(name)}. PUT /runs/{run}, or the first POST /items or POST /rollouts, creates it.`,
        { missing: { kind: 'run', name } },
      )
    return run
  }

  /** Returns undefined if there is no such run. */
  async get(name: string): Promise<ResolvedRun | undefined> {
    const stored = await this.#repository.get(name)
    const run = stored && resolveRun(await this.#recreated.observe(stored))
    this.#cache.set(name, run)
    return run
  }

  /**
   * Returns the run as this process last read it. Its counters may be stale, so use it only with Redis scripts that
   * reject a changed run.
   */
  async getOrCreateCached(name: string, condition?: RunCondition): Promise<ResolvedRun> {
    const run = this.#cache.get(name)
    return run && meetsRunCondition(run, condition) ? run : this.getOrCreate(name, condition)
  }

  /** Does the same for one epoch. Returns undefined if the epoch has ended. */
  async getCachedInEpoch(name: string, epoch: number): Promise<ResolvedRun | undefined> {
    const run = this.#cache.get(name)
    return run?.epoch === epoch ? run : this.getInEpoch(name, epoch)
  }

  /** Returns undefined if the epoch has ended because the run was restored or deleted. */
  async getInEpoch(name: string, epoch: number): Promise<ResolvedRun | undefined> {
    const run = await this.get(name)
    return run?.epoch === epoch ? run : undefined
  }

  /** With a condition, creates nothing and throws `run_recreated` if it is not met. */
  async getOrCreate(name: string, condition?: RunCondition): Promise<ResolvedRun> {
    const run = await this.get(name)
    assertRunCondition(name, run, condition)
    return run ?? (await this.#update(name, {}, { restart: false, configures: false })).run
  }

  /**
   * Applies a change of settings. Concurrent updates all take effect. Throws `would_restart`, `run_recreated` and
   * `run_exists`, depending on the options.
   */
  update(name: string, change: SettingsChange, options: UpdateOptions): Promise<RunUpdate> {
    return this.#update(name, change, { ...options, configures: true })
  }

  async #update(
    name: string,
    change: SettingsChange,
    { restart, condition, createOnly, configures, caller }: UpdateOptions & { configures: boolean },
  ): Promise<RunUpdate> {
    for (let k = 0; k < UPDATE_RETRY_LIMIT; k++) {
      const before = await this.#repository.get(name)
      assertRunCondition(name, before, condition)
      if (before && createOnly) throw runExistsError(name)
      const explicitSettings = mergeSettings(before?.explicitSettings ?? {}, change)
      // Concurrent first uses create a run together: the second one finds nothing to change.
      if (before && (before.isConfigured || !configures) && isDeepEqual(before.explicitSettings, explicitSettings))
        return { run: resolveRun(before), created: false, changed: [], restarts: [] }
      const [old, settings] = [resolveSettings(before?.explicitSettings ?? {}), this.validateSettings(explicitSettings)]
      const changed = Object.keys(settings).filter(
        (key) => !isDeepEqual(old[key as keyof RunSettings], settings[key as keyof RunSettings]),
      ) // the keys are those of RunSettings
      if (changed.includes('tasks')) await this.validateTaskConfigs(settings)
      const restarts = before
        ? RESTART_SETTINGS.filter((key) => changed.includes(key) && this.#hasChanged(key, old, settings))
        : []
      if (restarts.length > 0 && !restart) {
        throw new ServiceError(
          'would_restart',
          `Changing ${restarts.join(' and ')} restarts the item sequence of the run. Add ?restart=true to do so.`,
        )
      }
      const rebuildItems = REMAKE_SETTINGS.some((key) => changed.includes(key))
      if (
        await this.#repository.updateSettings(name, before, explicitSettings, {
          restart: restarts.length > 0,
          remake: rebuildItems,
          configures,
          start: await this.#computeStart({ settings, explicitSettings }, changed, caller),
        })
      ) {
        return { run: await this.require(name), created: !before, changed, restarts }
      }
    }
    throw runContendedError(name)
  }

  /** Returns the frontiers that tasks start from if the change sets them, and none if it removes them. */
  async #computeStart(
    run: Pick<ResolvedRun, 'settings' | 'explicitSettings'>,
    changed: string[],
    caller: Caller | undefined,
  ): Promise<Map<string, StoredFrontier> | undefined> {
    const { curriculum_start: start, complexity_mode } = run.settings
    if (!changed.includes('curriculum_start') && !(start && changed.includes('complexity_mode'))) return undefined
    if (!start || complexity_mode !== 'frontier' || !caller) return new Map()
    const measured = await this.#evals.measure(start.eval, caller)
    return computeStart(run, measured, buildTaskPlans(run.settings, this.#tasks.list()), this.#frontiers)
  }

  /** Returns the effective settings. Throws `invalid_request` and `unknown_task`. */
  validateSettings(explicitSettings: SettingsChange): RunSettings {
    const settings = resolveSettings(explicitSettings)
    const { buffer_max_groups, group_size, batch_size } = settings
    if (buffer_max_groups * group_size < batch_size) {
      throw new ServiceError(
        'invalid_request',
        `buffer_max_groups (${buffer_max_groups}) × group_size (${group_size}) is below batch_size (${batch_size}), so no batch could ever be filled`,
        {
          errors: [
            {
              path: 'buffer_max_groups',
              message: `multiplied by group_size must be at least batch_size (${batch_size})`,
            },
          ],
        },
      )
    }
    if (settings.tasks !== 'all')
      for (const [k, choice] of settings.tasks.entries())
        this.#tasks.assertKnown(typeof choice === 'string' ? choice : choice.task, {
          path: `tasks.${k}`,
          message: 'must be a task or `category:NAME`',
        })
    for (const [k, choice] of settings.exclude.entries())
      if (choice !== PUBLIC_BENCHMARKS)
        this.#tasks.assertKnown(choice, {
          path: `exclude.${k}`,
          message: `must be a task, \`category:NAME\` or \`${PUBLIC_BENCHMARKS}\``,
        })
    if (buildTaskPlans(settings, this.#tasks.list()).every(({ weight }) => weight === 0)) {
      const reason = settings.exclude.length > 0 ? '`exclude` leaves out all of them' : 'no task has a weight above 0'
      throw new ServiceError('invalid_request', `The run has no tasks: ${reason}`, {
        errors: [
          { path: 'tasks', message: 'must have a task with a weight above 0 that `exclude` does not leave out' },
        ],
      })
    }
    return settings
  }

  /** Throws `invalid_config` if the library rejects the config of a task, and `engine_unavailable`. */
  validateTaskConfigs(settings: RunSettings): Promise<void> {
    return assertTaskConfigs(settings, this.#tasks.list(), this.#engine)
  }

  /** Whether the effective value changed. A task with weight 1 equals the task name alone. */
  #hasChanged(
    key: (typeof RESTART_SETTINGS)[number],
    old: RunSettings,
    { tasks, exclude, seed }: RunSettings,
  ): boolean {
    if (key === 'seed') return old.seed !== seed
    const catalog = this.#tasks.list()
    return !isDeepEqual(buildTaskPlans(old, catalog), buildTaskPlans({ ...old, tasks, exclude }, catalog))
  }

  /** Lists the runs whose names pass `isVisible`, sorted by name. */
  async list(isVisible: (name: string) => boolean = () => true): Promise<ResolvedRun[]> {
    const names = (await this.#repository.listNames()).filter(isVisible).toSorted()
    const runs = await Promise.all(names.map((name) => this.get(name)))
    return runs.filter((run) => run !== undefined) // the run may have been deleted after its name was read
  }

  /** Whether the run's buffer cannot take another group. */
  async isBufferFull(name: string): Promise<boolean> {
    const stored = await this.#repository.get(name)
    if (!stored) return false
    const { settings } = resolveRun(stored)
    return (
      settings.buffer && countBufferOccupancy(await this.#repository.readBacklog(stored)) >= settings.buffer_max_groups
    )
  }

  async listCurriculumPoints(run: ResolvedRun): Promise<CurriculumPoint[]> {
    await this.#foldIfPossible(run)
    return this.#repository.readCurriculumHistory(run)
  }

  /** Folds evidence if Redis accepts writes. Otherwise, readers see the frontiers as last folded. */
  async #foldIfPossible(run: ResolvedRun): Promise<void> {
    await this.#frontier.fold(run).catch(() => {})
  }

  /**
   * Deletes the run that has the name now; its keys are removed later. A run that was created in the meantime stays.
   * Groups queued for a dump are still written. Throws `unknown_run` and `run_recreated`.
   */
  async delete(name: string, condition?: RunCondition): Promise<void> {
    const run = await this.require(name, condition)
    // Must come first, so that a process that finds the next run of this name knows about the deletion. A full Redis
    // rejects the record, but the run is still deleted.
    await this.#repository.recordDeletion(run).catch(() => {})
    const discarded = await this.#epochs.discardRun(run)
    if (!discarded) return // deleted by another call
    await this.#removal.schedule(discarded)
    await this.#dumps.flush(run).catch(() => {}) // the run is deleted; the sweep of the dumps freezes what waits
  }

  /** Marks the run as finished, archived or active. Throws `unknown_run` and `run_recreated`. */
  async changeLifecycle(name: string, lifecycle: RunLifecycle, condition?: RunCondition): Promise<ResolvedRun> {
    const run = await this.require(name, condition)
    if (run.lifecycle === lifecycle) return run
    if (!(await this.#repository.changeLifecycle(run, lifecycle))) throw runRestoredError(name)
    return this.require(name, [run.uuid])
  }

  /** Builds the response of `GET /runs/{run}`. */
  async buildView(run: ResolvedRun): Promise<Run> {
    await this.#foldIfPossible(run)
    const [backlog, sums, levels, skipped, accuracies, dumps, outcomes, evidence] = await Promise.all([
      this.#repository.readBacklog(run),
      this.#repository.readTaskSums(run),
      this.#repository.readCurriculumLevels(run),
      this.#positions.listSkipped(run),
      this.#repository.readRecentAccuracies(run),
      this.#dumps.getProgress(run),
      this.#repository.readRecentOutcomes(run),
      this.#repository.readLearnability(run),
    ])
    const engine = this.#engine.health()
    return buildRunView(run, { backlog, sums, levels, skipped, accuracies, dumps, outcomes, evidence, engine })
  }
}

/** Returns the explicit settings after a change. Null removes a setting. */
export function mergeSettings(explicitSettings: SettingsChange, change: SettingsChange): SettingsChange {
  const entries = Object.entries({ ...explicitSettings, ...change })
  return Object.fromEntries(
    entries.filter(([key, value]) => value !== undefined && (value !== null || NULLABLE_SETTINGS.has(key))),
  )
}

/** Compares as JSON, regardless of the order of keys. */
function isDeepEqual(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b)
}
