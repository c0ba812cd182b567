/** Runs and their settings. The first use of a run creates it. */
import { type Caller, canAccessRun } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { DEFAULT_RUN } from '@reasoning-gym-server/contract/rollout'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import type { RunLifecycle, RunMixChange } from '@reasoning-gym-server/contract/run-control'
import { type RunSettings, resolveSettings, type SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { LRUCache } from 'lru-cache'
import pMap from 'p-map'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Producer } from '../../platform/queue/queues.ts'
import type { Idempotency } from '../../platform/redis/idempotency.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import type { StoredFrontier } from './curriculum/frontier-store.ts'
import { computeStart, type TaskFrontiers } from './curriculum/task-frontiers.ts'
import type { EpochRemoval, EpochRepository } from './epochs.ts'
import {
  assertRunCondition,
  assertStepInReach,
  meetsRunCondition,
  runContendedError,
  runExistsError,
  runRestoredError,
  unknownRunError,
} from './errors.ts'
import { schedulePrefetch } from './jobs.ts'
import { describeChange, type RunMarks } from './marks.ts'
import { countBufferOccupancy, DELETED_RUN_TTL_MS, type RunRepository } from './repository.ts'
import { CONCURRENT_RUN_READS, type RunIndex } from './run-index.ts'
import { buildTaskPlans } from './sequence/sequence.ts'
import { isDeepEqual, mergeSettings, type SettingsRules } from './settings.ts'
import { type ResolvedRun, type RunDumps, type RunEvals, resolveRun, type StoredRun } from './types.ts'

/** Below 65,536, since the mixes of a run add theirs when their items are issued. */
const MAX_VARIANTS = 60_000
const UPDATE_RETRY_LIMIT = 20
/** Tags and notes change nothing in a run. */
const UNMARKED_SETTINGS = ['notes', 'tags']
/** Number of runs cached as this process last read them. */
const RUN_CACHE_SIZE = 1000

interface RunUpdate {
  run: ResolvedRun
  created: boolean
  changed: string[]
  restarts: string[]
}

interface UpdateOptions {
  restart: boolean
  condition?: RunCondition | undefined
  createOnly?: boolean
  /** Caller that must have access to the eval of `curriculum_start`. */
  caller?: Caller
}

interface SetMixOptions {
  condition: RunCondition | undefined
  callerId: string
  idempotencyKey: string | undefined
}

interface ReadOptions {
  /**
   * If false, returns the run as this process last read it. Its counters may then be stale, so use it only with Redis
   * scripts that reject a changed run.
   */
  fresh?: boolean
}

interface RequireOptions extends ReadOptions {
  /** Caller that the error tells about similar names of runs, if it may access them. */
  caller?: Caller | undefined
}

interface RunsDeps {
  marks: Pick<RunMarks, 'record'>
  repository: RunRepository
  index: Pick<RunIndex, 'listNames' | 'setArchived'>
  epochs: EpochRepository
  removal: EpochRemoval
  recreated: RecreatedRuns
  frontiers: TaskFrontiers
  rules: SettingsRules
  tasks: TaskCatalog
  dumps: RunDumps
  evals: RunEvals
  producer: Producer
  idempotency: Idempotency
}

export class Runs {
  readonly #deps: RunsDeps
  readonly #cache = new LRUCache<string, ResolvedRun>({ max: RUN_CACHE_SIZE })

  constructor(deps: RunsDeps) {
    this.#deps = deps
  }

  /**
   * Returns undefined if there is no such run, or if its epoch is not `epoch`, because the run was restored or deleted
   * since.
   */
  async get(
    name: string,
    { epoch, fresh = true }: ReadOptions & { epoch?: number } = {},
  ): Promise<ResolvedRun | undefined> {
    const isWanted = (run: ResolvedRun | undefined) => run !== undefined && (epoch === undefined || run.epoch === epoch)
    const cached = fresh ? undefined : this.#cache.get(name)
    if (isWanted(cached)) return cached
    const { repository, recreated } = this.#deps
    const stored = await repository.get(name)
    const run = stored && resolveRun(await recreated.observe(stored))
    this.#cache.set(name, run)
    return isWanted(run) ? run : undefined
  }

  /** As `get`, but throws `unknown_run`, and `run_recreated` if the run does not meet the condition. */
  async require(
    name: string,
    condition?: RunCondition,
    { fresh = true, caller }: RequireOptions = {},
  ): Promise<ResolvedRun> {
    const cached = fresh ? undefined : this.#cache.get(name)
    if (cached && meetsRunCondition(cached, condition)) return cached
    const run = await this.get(name)
    assertRunCondition(name, run, condition)
    if (run) return run
    throw unknownRunError(name, caller && (await this.listNames((other) => canAccessRun(caller, other))))
  }

  /**
   * As `require`, but creates the default run if it does not exist, as the original environment does. With a condition, it
   * creates nothing.
   */
  async requireOrCreateDefault(
    name: string,
    condition?: RunCondition,
    options: RequireOptions = {},
  ): Promise<ResolvedRun> {
    try {
      return await this.require(name, condition, options)
    } catch (error) {
      const isMissing = error instanceof ServiceError && error.code === 'unknown_run'
      if (name !== DEFAULT_RUN || !isMissing) throw error
      return (await this.#update(name, {}, { restart: false, configures: false })).run
    }
  }

  /** Lists the names of runs that pass `isVisible`, sorted. */
  async listNames(isVisible: (name: string) => boolean = () => true): Promise<string[]> {
    const { repository, index } = this.#deps
    const names = (await index.listNames()).filter(isVisible).toSorted()
    const exist = await pMap(names, (name) => repository.exists(name), { concurrency: CONCURRENT_RUN_READS })
    return names.filter((_, k) => exist[k])
  }

  /**
   * Applies a change of settings and has items made with them. Concurrent updates all take effect. Throws
   * `would_restart`, `run_recreated` and `run_exists`, depending on the options.
   */
  async update(name: string, change: SettingsChange, options: UpdateOptions): Promise<RunUpdate> {
    const updated = await this.#update(name, change, { ...options, configures: true })
    void schedulePrefetch(this.#deps.producer, updated.run)
    return updated
  }

  async #update(
    name: string,
    change: SettingsChange,
    { restart, condition, createOnly, configures, caller }: UpdateOptions & { configures: boolean },
  ): Promise<RunUpdate> {
    const { repository, rules } = this.#deps
    for (let k = 0; k < UPDATE_RETRY_LIMIT; k++) {
      const before = await repository.get(name)
      assertRunCondition(name, before, condition)
      if (before && createOnly) throw runExistsError(name)
      const explicitSettings = mergeSettings(before?.explicitSettings ?? {}, change)
      // Concurrent first uses create a run together: the second one finds nothing to change.
      if (before && (before.isConfigured || !configures) && isDeepEqual(before.explicitSettings, explicitSettings))
        return { run: resolveRun(before), created: false, changed: [], restarts: [] }
      const settings = rules.validate(explicitSettings)
      const difference = rules.compare(resolveSettings(before?.explicitSettings ?? {}), settings)
      const { changed, sequence, remakesItems } = difference
      if (changed.includes('tasks')) {
        await rules.validateTaskConfigs(settings)
        if (before && !restart) await this.#assertFewVariants(before)
      }
      if (before && sequence.includes('seed') && !restart) {
        throw new ServiceError(
          'would_restart',
          'Changing seed restarts the item sequence of the run. Add ?restart=true to do so.',
        )
      }
      const restarts = before && restart ? sequence : []
      const hasNewMix = !before || sequence.length > 0
      const start = await this.computeStart({ settings, explicitSettings }, changed, caller)
      const update = {
        restart: restarts.length > 0,
        remake: remakesItems || hasNewMix,
        mix: hasNewMix ? { tasks: settings.tasks, exclude: settings.exclude } : undefined,
        configures,
        start,
      }
      if (await repository.updateSettings(name, before, explicitSettings, update)) {
        if (before) await this.#markChange(before, changed, settings)
        return { run: await this.require(name), created: !before, changed, restarts }
      }
    }
    throw runContendedError(name)
  }

  /** A record of an issued item has two bytes for its task and config. */
  async #assertFewVariants(run: StoredRun): Promise<void> {
    if ((await this.#deps.repository.countVariants(run)) < MAX_VARIANTS) return
    const detail = `The run has had items of ${MAX_VARIANTS} different tasks and configs, the most that one can have. Create another run, or add ?restart=true.`
    throw new ServiceError('invalid_request', detail)
  }

  async #markChange(before: StoredRun, changed: string[], after: RunSettings): Promise<void> {
    const shown = changed.filter((name) => !UNMARKED_SETTINGS.includes(name))
    if (shown.length === 0) return
    const text = describeChange(shown, resolveSettings(before.explicitSettings), after)
    await this.#deps.marks.record(before, { kind: 'settings', text })
  }

  /**
   * Changes the tasks of a run from the next position that was not handed out. Throws `unknown_run` and `run_recreated`.
   * The run keeps its difficulties and what the sampling knows about its tasks.
   */
  async setMix(
    name: string,
    { tasks }: RunMixChange['mix'],
    { condition, callerId, idempotencyKey: key }: SetMixOptions,
  ): Promise<ResolvedRun> {
    const { incarnation, epoch, counters } = await this.require(name, condition)
    const perform = async () => {
      const { run } = await this.update(name, { tasks }, { restart: false, condition: [incarnation] })
      return { decision: null, answer: run }
    }
    // a rewind or a restore has undone the mix of an earlier call
    const scope = `mix ${name} ${epoch} ${counters.rewinds ?? 0}`
    const request = { callerId, scope, key, body: tasks }
    return this.#deps.idempotency.runOnce(request, {
      decision: z.null(),
      perform,
      replay: () => this.require(name, condition),
    })
  }

  /**
   * Returns the frontiers that tasks start from if the change sets them, and none if it removes them or the mode ignores
   * them. Throws what `RunEvals.measure` throws, in any mode, because others may turn `frontier` on.
   */
  async computeStart(
    run: Pick<ResolvedRun, 'settings' | 'explicitSettings'>,
    changed: string[],
    caller: Caller | undefined,
  ): Promise<Map<string, StoredFrontier> | undefined> {
    const { evals, tasks, frontiers } = this.#deps
    const { curriculum_start: start, complexity_mode } = run.settings
    const isChanged = changed.includes('curriculum_start')
    const isIgnored = complexity_mode !== 'frontier'
    if (!isChanged && !(start && changed.includes('complexity_mode'))) return undefined
    if (!start || !caller || (isIgnored && !isChanged)) return new Map()
    const measured = await evals.measure(start.eval, caller)
    if (isIgnored) return new Map()
    return computeStart(run, measured, buildTaskPlans(run.settings, tasks.list()), frontiers)
  }

  /** Whether the run's buffer cannot take another group. */
  async isBufferFull(name: string): Promise<boolean> {
    const { repository } = this.#deps
    const stored = await repository.get(name)
    if (!stored) return false
    const { settings } = resolveRun(stored)
    return settings.buffer && countBufferOccupancy(await repository.readBacklog(stored)) >= settings.buffer_max_groups
  }

  /**
   * Deletes the run that has the name now; its keys are removed later. A run that was created in the meantime stays.
   * Groups queued for a dump are still written. Throws `unknown_run` and `run_recreated`.
   */
  async delete(name: string, condition?: RunCondition): Promise<void> {
    const { repository, epochs, removal, dumps } = this.#deps
    const run = await this.require(name, condition)
    // Must come first, so that a process that finds the next run of this name knows about the deletion. A full Redis
    // rejects the record, but the run is still deleted.
    await repository.recordDeletion(run).catch(() => {})
    const discarded = await epochs.discardRun(run)
    if (!discarded) return // deleted by another call
    await removal.schedule(discarded)
    await dumps.flush(run).catch(() => {}) // the run is deleted; the sweep of the dumps freezes what waits
  }

  /** Marks the run as finished, archived or active. Throws `unknown_run` and `run_recreated`. */
  async changeLifecycle(name: string, lifecycle: RunLifecycle, condition?: RunCondition): Promise<ResolvedRun> {
    const run = await this.require(name, condition)
    if (run.lifecycle === lifecycle) return run
    // before the change, because a run that is not archived may be among those that were
    if (lifecycle === 'archived') await this.#deps.index.setArchived(name, redisNow())
    if (!(await this.#deps.repository.changeLifecycle(run, lifecycle))) throw runRestoredError(name)
    if (lifecycle !== 'archived') await this.#deps.index.setArchived(name, undefined)
    return this.require(name, [run.incarnation])
  }

  /** Records that a step has ended, so that the run can go back to it. Throws `unknown_run` and `run_recreated`. */
  async endStep(name: string, step: number, condition?: RunCondition): Promise<ResolvedRun> {
    const run = await this.require(name, condition)
    assertStepInReach(run, step)
    if (!(await this.#deps.repository.endStep(run, step))) throw runRestoredError(name)
    return run
  }

  /**
   * Starts the difficulty of all tasks and the sampling again, for a policy that has changed. Throws `unknown_run` and
   * `run_recreated`.
   */
  async resetCurriculum(name: string, condition?: RunCondition): Promise<ResolvedRun> {
    const run = await this.require(name, condition)
    if (!(await this.#deps.repository.resetCurriculum(run))) throw runRestoredError(name)
    await this.#deps.marks.record(run, { kind: 'curriculum_reset', text: 'All tasks start again.' })
    void schedulePrefetch(this.#deps.producer, run)
    return run
  }
}

const KNOWN_RUNS = 10_000

interface RecreatedRunsDeps {
  repository: Pick<RunRepository, 'wasDeleted' | 'markRecreated'>
  log: Pick<Logger, 'warn'>
}

/**
 * Detects runs that Redis lost and that were created again. If a process that knows a run by name finds another
 * incarnation that is not configured, although the first one was not deleted, it marks the run, so that every process
 * shows it.
 */
export class RecreatedRuns {
  readonly #deps: RecreatedRunsDeps
  /** Incarnations by run name. An entry expires here before Redis forgets the deletion of its run. */
  readonly #known = new LRUCache<string, string>({ max: KNOWN_RUNS, ttl: DELETED_RUN_TTL_MS / 2 })

  constructor(deps: RecreatedRunsDeps) {
    this.#deps = deps
  }

  /** Returns the run as read, marked if it was created again since this process last read it. */
  async observe(run: StoredRun): Promise<StoredRun> {
    const known = this.#known.get(run.name)
    const isOther = known !== undefined && known !== run.incarnation
    const observed = isOther ? await this.#compare(run, known).catch(() => undefined) : run
    if (!observed) return run // a full Redis rejects the mark, but the run can be read and is compared again next time
    this.#known.set(run.name, run.incarnation)
    return observed
  }

  async #compare(run: StoredRun, known: string): Promise<StoredRun> {
    const { repository, log } = this.#deps
    if (run.isConfigured || (await repository.wasDeleted(known))) return run
    const { isNew, recreatedAt } = await repository.markRecreated(run, redisNow())
    if (isNew) {
      log.warn(
        { run: run.name, incarnation: run.incarnation, lost_incarnation: known },
        'Redis has lost this run, and a call recreated it with the default settings: restore a checkpoint or PUT its settings',
      )
    }
    return { ...run, recreatedAt }
  }
}
