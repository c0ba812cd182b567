/** What is known of each task: from the library's registry, or from the built-in list while it cannot be asked. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../../contract/errors.ts'
import type { Credit, TaskSummary } from '../../contract/task.ts'
import type { Engine, TaskDefinition } from '../../engine/engine.ts'
import { NATIVE_TASKS } from '../../scorers/native-scorers.ts'
import type { Ladders } from './ladders.ts'

interface BuiltInTask {
  category: string
  credit: Credit
}

const BUILT_IN_TASKS = JSON.parse(readFileSync(join(import.meta.dirname, 'tasks.json'), 'utf8')) as Record<
  string,
  BuiltInTask
> // test/tasks holds it to the registry

export const TASK_NAMES = Object.keys(BUILT_IN_TASKS)

export class TaskCatalog {
  readonly #engine: Engine
  readonly #tasks: ReadonlyMap<string, TaskSummary>

  constructor(engine: Engine, ladders: Ladders) {
    this.#engine = engine
    this.#tasks = new Map(
      Object.entries(BUILT_IN_TASKS).map(([name, { category, credit }]) => {
        const rungs = ladders.rungs(name).length
        const scorer = NATIVE_TASKS.has(name) ? 'native' : 'library'
        return [name, { name, category, credit, scorer, adjustable: rungs > 1, rungs }]
      }),
    )
  }

  /** Throws `unknown_task`. */
  require(name: string): TaskSummary {
    const known = this.#tasks.get(name)
    if (!known)
      throw new ServiceError('unknown_task', `There is no task named ${JSON.stringify(name)}; GET /tasks lists them`)
    return known
  }

  /** Throws `unknown_task` unless this is a task or `category:NAME`. */
  assertKnown(choice: string): void {
    const category = /^category:(.+)$/.exec(choice)?.[1]
    if (category === undefined) this.require(choice)
    else if (this.list(category).length === 0)
      throw new ServiceError('unknown_task', `There is no category named ${JSON.stringify(category)}`)
  }

  /** All tasks, or those of a category, or whose name or category has `query` in it. */
  list(category?: string, query?: string): TaskSummary[] {
    const wanted = query?.toLowerCase()
    return [...this.#tasks.values()].filter(
      (task) =>
        (category === undefined || task.category === category) &&
        (wanted === undefined || task.name.includes(wanted) || task.category.includes(wanted)),
    )
  }

  /** Whether the library's registry can be asked. */
  get source(): 'registry' | 'fallback' {
    return this.#engine.health().ok ? 'registry' : 'fallback'
  }

  /** What the library says of a task; undefined while it cannot be asked. */
  async getTaskInfo(name: string): Promise<TaskDefinition | undefined> {
    if (!this.#engine.health().ok) return undefined
    return (await this.#engine.tasks())[name]
  }
}
