/**
 * The tasks that the server offers: those of the running library, or a built-in list until the library is available.
 */
import { basename } from 'node:path'
import { type FieldError, ServiceError } from '@reasoning-gym-server/contract/errors'
import { findSimilar } from '@reasoning-gym-server/contract/similar-names'
import type { Credit, TaskList, TaskSummary } from '@reasoning-gym-server/contract/task'
import { NATIVE_TASKS } from '@reasoning-gym-server/scorers/native-scorers'
import pMap from 'p-map'
import type { Engine, TaskDefinition, TaskProblem } from '../../engine/engine.ts'
import { BUILT_IN_TASKS, type BuiltInTask } from './built-in-tasks.ts'
import { type Ladders, verifyCustomLadder } from './ladders.ts'

/** The cards have the figures. */
export type CatalogTask = Omit<TaskSummary, 'guess_floor'>

/** Credit of tasks for which the library does not say how finely they score. This value makes no claim about them. */
const DEFAULT_CREDIT: Credit = 'continuous'

/** Few, because the time limit of a task's ladder includes what it waits for others. */
const LADDERS_AT_ONCE = 2

type CatalogEngine = Pick<Engine, 'health' | 'tasks' | 'taskProblems' | 'generateItems' | 'score'>

export class TaskCatalog {
  readonly #engine: CatalogEngine
  readonly #ladders: Ladders
  readonly #conflictOf: (task: string) => string | undefined
  #registry: Record<string, TaskDefinition> | undefined
  #tasks: ReadonlyMap<string, CatalogTask>
  #loading: Promise<void> | undefined

  /** `conflictOf` says why this process may not serve a task. */
  constructor(
    engine: CatalogEngine,
    ladders: Ladders,
    conflictOf: (task: string) => string | undefined = () => undefined,
  ) {
    this.#engine = engine
    this.#ladders = ladders
    this.#conflictOf = conflictOf
    this.#tasks = this.#summarizeTasks(BUILT_IN_TASKS)
  }

  /**
   * Replaces the list with the library's registry, again when the tasks of TASKS_PATH have been read again. Removes tasks
   * that the library lacks, and adds tasks that only the library has, with its category and defaults and without a
   * ladder. Verifies the ladders of custom tasks first; a task whose ladder fails is served without one. Does nothing while
   * the library is unavailable: the next call tries again.
   */
  loadRegistry(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #load(): Promise<void> {
    if (!this.#engine.health().ok) return
    const registry = await this.#engine.tasks().catch(() => undefined) // the next call tries again
    if (!registry || registry === this.#registry) return
    const deps = { engine: this.#engine, ladders: this.#ladders }
    const custom = Object.entries(registry).flatMap(([task, definition]) =>
      definition.custom ? [[task, definition.custom] as const] : [],
    )
    try {
      await pMap(custom, ([task, definition]) => verifyCustomLadder(deps, task, definition), {
        concurrency: LADDERS_AT_ONCE,
      })
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'engine_unavailable') return
      throw error
    }
    this.#registry = registry
    this.#tasks = this.#summarizeTasks(registry)
  }

  /** Whether the running library has been asked for its tasks, and the ladders of custom tasks are verified. */
  get isLoaded(): boolean {
    return this.#registry !== undefined
  }

  /** Throws `engine_unavailable` before that. */
  assertLoaded(): void {
    if (!this.isLoaded) throw new ServiceError('engine_unavailable', 'The tasks are still being loaded. Retry.')
  }

  /** Files of TASKS_PATH that give no task, once the registry is loaded. */
  get problems(): readonly TaskProblem[] {
    return this.#engine.taskProblems
  }

  /** Hash of the code of each task of the operator. */
  get customCodes(): ReadonlyMap<string, string> {
    const codes = Object.entries(this.#registry ?? {}).flatMap(([task, { custom }]) =>
      custom ? [[task, custom.code_hash] as const] : [],
    )
    return new Map(codes)
  }

  /** Throws `task_code_conflict` if other processes on this Redis have other code of the task. */
  assertUsable(name: string): void {
    const conflict = this.#conflictOf(name)
    if (conflict !== undefined) throw new ServiceError('task_code_conflict', conflict)
  }

  isUsable(name: string): boolean {
    return this.#conflictOf(name) === undefined
  }

  /** Throws `unknown_task`. */
  require(name: string): CatalogTask {
    const task = this.#tasks.get(name)
    if (!task) this.assertLoaded()
    if (!task) throw this.#createUnknownTaskError(name)
    return task
  }

  /**
   * Throws `unknown_task` unless this is a task or `category:NAME`. `field` says where it was given and which values
   * are allowed.
   */
  assertKnown(choice: string, field?: FieldError): void {
    const category = /^category:(.+)$/.exec(choice)?.[1]
    if (category === undefined ? this.#tasks.has(choice) : this.list(category).length > 0) return
    this.assertLoaded()
    const errors = field ? [field] : []
    if (category === undefined) throw this.#createUnknownTaskError(choice, errors)
    const categories = [...new Set(this.list().map((task) => task.category))].toSorted()
    throw new ServiceError(
      'unknown_task',
      `There is no category named ${JSON.stringify(category)}. ${suggest(category, categories)}The categories are: ${categories.join(', ')}.`,
      { errors, missing: { kind: 'category', name: category } },
    )
  }

  #createUnknownTaskError(name: string, errors: FieldError[] = []): ServiceError {
    const reasons = this.problems.map(({ file, detail }) => `${basename(file)} gives no task: ${detail}. `)
    const advice = `${suggest(name, this.#tasks.keys()) || reasons.join('')}GET /tasks lists the tasks.`
    const detail = `There is no task named ${JSON.stringify(name)}. ${advice}`
    return new ServiceError('unknown_task', detail, { errors, missing: { kind: 'task', name } })
  }

  /** Lists all tasks, those of a category, or those whose name, category or description contains `query`. */
  list(category?: string, query?: string): CatalogTask[] {
    const text = query?.toLowerCase()
    return [...this.#tasks.values()].filter(
      (task) =>
        (category === undefined || task.category === category) &&
        (text === undefined ||
          [task.name, task.category, task.description ?? ''].some((words) => words.toLowerCase().includes(text))),
    )
  }

  /** `registry` if the list came from the library and the library is running. */
  get source(): TaskList['source'] {
    return this.#registry && this.#engine.health().ok ? 'registry' : 'fallback'
  }

  /** Returns the library's definition of a task, or undefined while the library is unavailable. */
  async getDefinition(name: string): Promise<TaskDefinition | undefined> {
    await this.loadRegistry()
    return this.#engine.health().ok ? this.#registry?.[name] : undefined
  }

  #summarizeTasks(tasks: Record<string, BuiltInTask | TaskDefinition>): ReadonlyMap<string, CatalogTask> {
    return new Map(
      Object.entries(tasks).map(([name, task]) => {
        const {
          credit = DEFAULT_CREDIT,
          public_benchmark = null,
          shortcut = null,
          description = task.description ?? null,
        } = BUILT_IN_TASKS[name] ?? {}
        const code_hash = ('custom' in task && task.custom?.code_hash) || null
        const hasCustomScorer = 'custom' in task && Boolean(task.custom?.scorer)
        const scorer = NATIVE_TASKS.has(name) || hasCustomScorer ? 'native' : 'library'
        const rungs = this.#ladders.rungs(name).length
        return [
          name,
          {
            name,
            category: task.category,
            code_hash,
            description,
            credit,
            scorer,
            adjustable: rungs > 1,
            rungs,
            public_benchmark,
            shortcut,
          },
        ]
      }),
    )
  }
}

/** Names that the caller may have meant, with a space behind; an empty string if none is similar. */
function suggest(name: string, names: Iterable<string>): string {
  const similar = findSimilar(name, names).map((one) => JSON.stringify(one))
  return similar.length > 0 ? `Did you mean ${similar.join(' or ')}? ` : ''
}
