/** Runs as their users see them: settings that can be changed, and a run that comes into being with its first use. */
import { LRUCache } from 'lru-cache'
import { canonicalJson } from '../content-hash.ts'
import type { Engine } from '../engine/engine.ts'
import { Fault } from '../faults.ts'
import type { DumpBook } from '../store/dumps.ts'
import type { Positions } from '../store/positions.ts'
import { heldGroups, type Runs } from '../store/runs.ts'
import type { TaskCatalogue } from '../tasks/catalogue.ts'
import type { CurriculumPoint, Run, RunSettings, SettingsChange } from '../words/run.ts'
import { settingsInForce } from '../words/run.ts'
import { type OpenRun, opened } from './open-run.ts'
import { viewOf } from './run-view.ts'
import { plansOf } from './sequence.ts'
import { stepMetrics } from './step-metrics.ts'
import { assertConfigs } from './task-configs.ts'

/** Settings whose null means something of its own. */
const NULL_COUNTS = new Set(['system_prompt'])
/** A change of these begins the sequence of items anew. */
const RESTARTS = ['seed', 'tasks'] as const
/** A change of these leaves the sequence, but not the items that were prepared. */
const REMAKES = ['complexity_mode', 'difficulty', 'sampling']
const TRIES = 20
/** Runs as they were when they were last read here. */
const REMEMBERED = 1000

export interface Change {
  run: OpenRun
  created: boolean
  changed: string[]
  restarts: string[]
}

export class RunBook {
  readonly #runs: Runs
  readonly #positions: Positions
  readonly #tasks: TaskCatalogue
  readonly #dumps: DumpBook
  readonly #engine: Pick<Engine, 'health' | 'canonical' | 'version'>
  readonly #read = new LRUCache<string, OpenRun>({ max: REMEMBERED })

  constructor(
    runs: Runs,
    positions: Positions,
    tasks: TaskCatalogue,
    dumps: DumpBook,
    engine: Pick<Engine, 'health' | 'canonical' | 'version'>,
  ) {
    this.#engine = engine
    this.#runs = runs
    this.#positions = positions
    this.#tasks = tasks
    this.#dumps = dumps
  }

  /** Throws `unknown_run`. */
  async find(name: string): Promise<OpenRun> {
    const run = await this.look(name)
    if (!run)
      throw new Fault('unknown_run', `There is no run named ${JSON.stringify(name)}; its first use or a PUT makes it`)
    return run
  }

  /** Undefined if there is no such run. */
  async look(name: string): Promise<OpenRun | undefined> {
    const stored = await this.#runs.find(name)
    const run = stored && opened(stored)
    this.#read.set(name, run)
    return run
  }

  /**
   * As it was when it was last read here, in the epoch if one is named: for those whose script refuses it if it has changed
   * since. Its counters are of then.
   */
  async lately(name: string, epoch?: number): Promise<OpenRun> {
    const run = this.#read.get(name)
    return run && (epoch ?? run.epoch) === run.epoch ? run : this.ensure(name)
  }

  async ensure(name: string): Promise<OpenRun> {
    return (await this.look(name)) ?? (await this.change(name, {}, false)).run
  }

  /** Sets what the change names. Throws `would_restart` unless `restart`. Several at once all take effect. */
  async change(name: string, change: SettingsChange, restart: boolean): Promise<Change> {
    for (let k = 0; k < TRIES; k++) {
      const before = await this.#runs.find(name)
      const named = merged(before?.named ?? {}, change)
      // Many make a run at once with their first use of it: for who came second there is nothing to change.
      if (before && equal(before.named, named))
        return { run: opened(before), created: false, changed: [], restarts: [] }
      const [old, settings] = [settingsInForce(before?.named ?? {}), this.check(named)]
      const changed = Object.keys(settings).filter(
        (key) => !equal(old[key as keyof RunSettings], settings[key as keyof RunSettings]),
      ) // keys of settings
      if (changed.includes('tasks')) await this.checkConfigs(settings)
      const restarts = before
        ? RESTARTS.filter((key) => changed.includes(key) && this.#differs(key, old, settings))
        : []
      if (restarts.length > 0 && !restart) {
        throw new Fault(
          'would_restart',
          `A change of ${restarts.join(' and ')} begins the run's items anew; add ?restart=true`,
        )
      }
      const remake = REMAKES.some((key) => changed.includes(key))
      if (await this.#runs.change(name, before, named, { restart: restarts.length > 0, remake })) {
        return { run: await this.find(name), created: !before, changed, restarts }
      }
    }
    throw new Fault('redis_unavailable', 'The settings are being changed from too many sides at once; ask again')
  }

  /** The settings in force. Throws `invalid_request` and `unknown_task`. */
  check(named: SettingsChange): RunSettings {
    const settings = settingsInForce(named)
    const { buffer_max_groups, group_size, batch_size } = settings
    if (buffer_max_groups * group_size < batch_size) {
      throw new Fault(
        'invalid_request',
        `${buffer_max_groups} groups of ${group_size} cannot fill a batch of ${batch_size}`,
        {
          errors: [{ path: 'buffer_max_groups', message: `times group_size must reach batch_size (${batch_size})` }],
        },
      )
    }
    if (settings.tasks !== 'all')
      for (const choice of settings.tasks) this.#tasks.assertKnown(typeof choice === 'string' ? choice : choice.task)
    if (plansOf(settings, this.#tasks.list()).every(({ weight }) => weight === 0)) {
      throw new Fault('invalid_request', 'No task of the run has a weight above 0', {
        errors: [{ path: 'tasks', message: 'a run needs a task with a weight above 0' }],
      })
    }
    return settings
  }

  /** Throws `invalid_config` if the library refuses the config of a task, and `engine_unavailable`. */
  checkConfigs(settings: RunSettings): Promise<void> {
    return assertConfigs(settings, this.#tasks.list(), this.#engine)
  }

  /** Whether a setting means something else: a task with weight 1 is the task alone. */
  #differs(key: (typeof RESTARTS)[number], old: RunSettings, { tasks, seed }: RunSettings): boolean {
    if (key === 'seed') return old.seed !== seed
    const all = this.#tasks.list()
    return !equal(plansOf(old, all), plansOf({ ...old, tasks }, all))
  }

  /** The runs there are, by name; of those only that `may` allows. */
  async all(may: (name: string) => boolean = () => true): Promise<OpenRun[]> {
    const names = (await this.#runs.names()).filter(may).toSorted()
    const found = await Promise.all(names.map((name) => this.look(name)))
    return found.filter((run) => run !== undefined) // a name may outlive its run, that was removed at the same time
  }

  /** Whether the run has no place for one more group that wants to wait for a trainer. */
  async isFull(name: string): Promise<boolean> {
    const stored = await this.#runs.find(name)
    if (!stored) return false
    const { settings } = opened(stored)
    return settings.buffer && heldGroups(await this.#runs.waiting(stored)) >= settings.buffer_max_groups
  }

  history(run: OpenRun): Promise<CurriculumPoint[]> {
    return this.#runs.history(run)
  }

  /** Flat figures of the steps from `from` to `to`, oldest first; a step at a time. */
  async *metrics(run: OpenRun, from: number, to: number): AsyncGenerator<Record<string, number>> {
    for (const step of await this.#runs.metricSteps(run, from, to)) {
      yield stepMetrics(step, await this.#runs.metricSums(run, step))
    }
  }

  /** Forgets a run. Throws `unknown_run`. */
  async remove(name: string): Promise<void> {
    await this.find(name)
    await this.#runs.remove(name)
  }

  /** As `GET /runs/{run}` shows it. */
  async view(run: OpenRun): Promise<Run> {
    const [waiting, sums, levels, skipped, accuracies, dumps] = await Promise.all([
      this.#runs.waiting(run),
      this.#runs.taskSums(run),
      this.#runs.levels(run),
      this.#positions.skipped(run),
      this.#runs.accuracies(run),
      this.#dumps.progress({ run: run.name, uuid: run.uuid }),
    ])
    return viewOf(run, { waiting, sums, levels, skipped, accuracies, dumps, engine: this.#engine.health() })
  }
}

/** The settings that are named after the change: null takes one back. */
export function merged(named: SettingsChange, change: SettingsChange): SettingsChange {
  const entries = Object.entries({ ...named, ...change })
  return Object.fromEntries(
    entries.filter(([key, value]) => value !== undefined && (value !== null || NULL_COUNTS.has(key))),
  )
}

/** Whatever the order of their keys. */
function equal(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b)
}
