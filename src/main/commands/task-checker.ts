/** Runs the checks of `task check`, and the measurements of `validate`, on engines of its own, without a server. */

import { CliError } from '@reasoning-gym-server/cli/cli-error'
import type { Finding } from '@reasoning-gym-server/contract/finding'
import type { TaskValidation } from '@reasoning-gym-server/contract/validation'
import { checkTask, checkUnitTests } from '@reasoning-gym-server/task-tools/check/check-task'
import type { TaskChecker as Checker, TaskCheckers } from '@reasoning-gym-server/task-tools/commands/task-checker'
import type { MakeScoredItems } from '@reasoning-gym-server/task-tools/engine'
import type { Scoring, ValidatedRung } from '@reasoning-gym-server/task-tools/validation/checks'
import type { MeasuredRung } from '@reasoning-gym-server/task-tools/validation/figures'
import { measureTask } from '@reasoning-gym-server/task-tools/validation/measure'
import { measureFigures } from '@reasoning-gym-server/task-tools/validation/quick-figures'
import { buildValidation } from '@reasoning-gym-server/task-tools/validation/report'
import { getConfigDefaults, type TaskDefinition, type TaskProblem } from '../../engine/engine.ts'
import { PythonEngine, type PythonEngineOptions } from '../../engine/python-engine.ts'
import { ENGINE_VERSION } from '../../engine/version.ts'
import { TASK_NAMES } from '../../features/tasks/built-in-tasks.ts'
import { Ladders, verifyCustomLadder } from '../../features/tasks/ladders.ts'
import { hashConfig, TaskCards } from '../../features/tasks/task-cards.ts'
import { buildRecordedValidation, getRecordedValidations, listRungs } from '../../features/tasks/validation/recorded.ts'
import { makeHardenedItems } from '../../grading/hardened-item.ts'
import { ScorerThreadPool } from '../../grading/scorer-thread-pool.ts'
import { readConfig } from '../../platform/environment.ts'
import { getLibrarySocket } from '../../platform/installation.ts'
import { ensurePythonEnvironment } from '../bootstrap/python/python-environment.ts'

/** Another seed than the server's. */
export const OTHER_HASH_SEED = 2

export class TaskChecker implements Checker {
  readonly #engine: PythonEngine
  readonly #otherEngine: PythonEngine
  readonly #threadPool: ScorerThreadPool
  readonly #options: PythonEngineOptions

  private constructor(options: PythonEngineOptions) {
    this.#options = options
    this.#engine = new PythonEngine(options)
    // items of the library may depend on string hashes, whose seed the server always sets
    this.#otherEngine = new PythonEngine(
      options.taskPlaces?.length ? { ...options, hashSeed: OTHER_HASH_SEED } : options,
    )
    this.#threadPool = new ScorerThreadPool(1, options.scoreDeadlineMs)
  }

  /** `place` is an entry of TASKS_PATH; without one, there are only the tasks of the library. */
  static async open(place: string | undefined, report: (message: string) => void): Promise<TaskChecker> {
    const { PYTHON, SCORE_DEADLINE_MS: scoreDeadlineMs, MAKE_DEADLINE_MS: makeDeadlineMs } = readConfig()
    const pythonPath = await ensurePythonEnvironment(report, PYTHON)
    const taskPlaces = place === undefined ? [] : [place]
    const deadlines = { scoreDeadlineMs, makeDeadlineMs }
    const options = { pythonPath, librarySocket: getLibrarySocket(), taskPlaces, workersPerPool: 1, ...deadlines }
    const checker = new TaskChecker(options)
    for (const engine of [checker.#engine, checker.#otherEngine]) {
      await engine.waitUntilStarted()
      const { ok, detail } = engine.health()
      if (ok) continue
      await checker.close()
      throw new CliError(`The engine does not start: ${detail}. Run "reasoning-gym-server doctor"`)
    }
    return checker
  }

  /** The tasks of the place, and its files that give none. */
  async list(): Promise<{ tasks: Record<string, TaskDefinition>; problems: readonly TaskProblem[] }> {
    await this.#otherEngine.tasks() // its own version of the code
    const tasks = Object.entries(await this.#engine.tasks()).filter(([, { custom }]) => custom)
    return { tasks: Object.fromEntries(tasks), problems: this.#engine.taskProblems }
  }

  checkUnitTests(): Promise<Finding | undefined> {
    const [place = ''] = this.#options.taskPlaces ?? []
    return checkUnitTests(this.#engine, place)
  }

  async check(task: string, onFinding: (finding: Finding) => Promise<void>): Promise<Finding[]> {
    const definition = (await this.#engine.tasks())[task]
    if (!definition) return []
    const deps = {
      engine: this.#engine,
      otherEngine: this.#otherEngine,
      makeDeadlineMs: this.#options.makeDeadlineMs,
      scorerFiles: this.#threadPool,
      defaults: getConfigDefaults(definition),
      whyNotAdjustable: async () => (await this.#openLadders(task, definition)).whyNotAdjustable(task),
    }
    return checkTask(deps, task, definition, onFinding)
  }

  /** Measures a task at its defaults and on each rung. The figures of a custom task are those of its card, from fewer items. */
  async validate(task: string, scoring: Scoring): Promise<TaskValidation> {
    const definition = (await this.#engine.tasks())[task]
    if (!definition) throw new CliError(`There is no task named ${task}`, { exitCode: 2 })
    const startedAt = performance.now()
    const ladders = await this.#openLadders(task, definition)
    const rungs: ValidatedRung[] = listRungs(ladders, task)
    const engine = this.#engine
    const makeItems: MakeScoredItems = (...of) => makeHardenedItems(engine, ...of)
    const measured = await measureTask(
      { engine, otherEngine: this.#otherEngine, makeItems, hashConfig },
      task,
      rungs.map(({ config }) => config),
    )
    const recorded = definition.custom ? undefined : getRecordedValidations().tasks[task]
    const cards = new TaskCards(ladders)
    for (const [k, rung] of rungs.entries()) {
      rung.measured = measured.rungs[k] as MeasuredRung // one for each config
      rung.figures = definition.custom
        ? await measureFigures({ engine, makeItems }, task, rung.config)
        : k === 0
          ? cards.defaults(task)
          : cards.rung(task, k - 1)
    }
    return buildValidation({
      task,
      version: this.#engine.versionOf(task),
      scoring,
      rungs,
      measured,
      digestsElsewhere: new Map(recorded?.rungs.map(({ config, digest }) => [config, digest])),
      seconds: (performance.now() - startedAt) / 1000,
    })
  }

  /** The ladders, with that of a custom task once its levels are verified. */
  async #openLadders(task: string, { custom }: TaskDefinition): Promise<Ladders> {
    const ladders = new Ladders()
    if (custom) await verifyCustomLadder({ engine: this.#engine, ladders }, task, custom)
    return ladders
  }

  async close(): Promise<void> {
    await Promise.all([this.#engine.close(), this.#otherEngine.close(), this.#threadPool.close()])
  }
}

async function readRecorded(task: string, scoring: Scoring): Promise<TaskValidation> {
  const ladders = new Ladders()
  const deps = { engine: { versionOf: () => ENGINE_VERSION }, ladders, cards: new TaskCards(ladders) }
  return buildRecordedValidation(deps, task, scoring)
}

export const TASK_CHECKERS: TaskCheckers = {
  builtInTasks: TASK_NAMES,
  open: (place, report) => TaskChecker.open(place, report),
  readRecorded,
}
