/** Runs the checks of `task check` on engines of its own, without a server. */

import { CliError } from '@reasoning-gym-server/cli/cli-error'
import type { TaskDefinition, TaskProblem } from '../../engine/engine.ts'
import { PythonEngine, type PythonEngineOptions } from '../../engine/python-engine.ts'
import { checkTask, checkUnitTests } from '../../features/tasks/check/check-task.ts'
import type { TaskFinding } from '../../features/tasks/check/item-checks.ts'
import { ScorerThreadPool } from '../../grading/scorer-thread-pool.ts'
import { readConfig } from '../../platform/environment.ts'
import { ensurePythonEnvironment } from '../bootstrap/python/python-environment.ts'

/** Another seed than the server's. */
const OTHER_HASH_SEED = 2

export class TaskChecker {
  readonly #engine: PythonEngine
  readonly #otherEngine: PythonEngine
  readonly #threadPool: ScorerThreadPool
  readonly #options: PythonEngineOptions

  private constructor(options: PythonEngineOptions) {
    this.#options = options
    this.#engine = new PythonEngine(options)
    this.#otherEngine = new PythonEngine({ ...options, hashSeed: OTHER_HASH_SEED })
    this.#threadPool = new ScorerThreadPool(1, options.scoreDeadlineMs)
  }

  /** `place` is an entry of TASKS_PATH. */
  static async open(place: string, report: (message: string) => void): Promise<TaskChecker> {
    const { PYTHON, SCORE_DEADLINE_MS: scoreDeadlineMs, MAKE_DEADLINE_MS: makeDeadlineMs } = readConfig()
    const pythonPath = await ensurePythonEnvironment(report, PYTHON)
    const options = { pythonPath, taskPlaces: [place], workersPerPool: 1, scoreDeadlineMs, makeDeadlineMs }
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

  checkUnitTests(): Promise<TaskFinding | undefined> {
    const [place = ''] = this.#options.taskPlaces ?? []
    return checkUnitTests(this.#engine, place)
  }

  async check(task: string, onFinding: (finding: TaskFinding) => Promise<void>): Promise<TaskFinding[]> {
    const definition = (await this.#engine.tasks())[task]
    if (!definition) return []
    const deps = {
      engine: this.#engine,
      otherEngine: this.#otherEngine,
      makeDeadlineMs: this.#options.makeDeadlineMs,
      threadPool: this.#threadPool,
    }
    return checkTask(deps, task, definition, onFinding)
  }

  async close(): Promise<void> {
    await Promise.all([this.#engine.close(), this.#otherEngine.close(), this.#threadPool.close()])
  }
}
