/** Tasks as `GET /tasks` and `GET /tasks/{task}` show them. */
import type { Item } from '@reasoning-gym-server/contract/item'
import type { TaskDetail, TaskList, TaskSummary } from '@reasoning-gym-server/contract/task'
import type { Engine } from '../../engine/engine.ts'
import type { Ladders } from './ladders.ts'
import type { TaskCards } from './task-cards.ts'
import type { CatalogTask, TaskCatalog } from './task-catalog.ts'
import type { TaskStatisticsRecorder } from './task-statistics.ts'

interface TaskDetailsDeps {
  engine: Pick<Engine, 'version'>
  tasks: TaskCatalog
  ladders: Ladders
  cards: TaskCards
  statistics: TaskStatisticsRecorder
  getExample: (task: string) => Promise<Item | null>
}

export class TaskDetails {
  readonly #deps: TaskDetailsDeps

  constructor(deps: TaskDetailsDeps) {
    this.#deps = deps
  }

  /** Lists all tasks, those of a category, or those whose name, category or description contains `query`. */
  async list(category?: string, query?: string): Promise<TaskList> {
    const { engine, tasks } = this.#deps
    await tasks.loadRegistry()
    const list = tasks.list(category, query).map((task) => this.#addFloor(task))
    return {
      engine: { library: 'reasoning-gym', version: engine.version },
      source: tasks.source,
      total: list.length,
      tasks: list,
    }
  }

  /** Returns one task with its config schema, ladder, card, example and statistics. Throws `unknown_task`. */
  async require(name: string): Promise<TaskDetail> {
    const { tasks, ladders, cards, statistics, getExample } = this.#deps
    const definition = await tasks.getDefinition(name)
    const summary = tasks.require(name)
    return {
      ...this.#addFloor(summary),
      config_schema: definition?.config_schema ?? null,
      ladder: ladders.rungs(name),
      not_adjustable: ladders.whyNotAdjustable(name),
      card: cards.describe(name),
      example: definition ? await getExample(name) : null,
      statistics: await statistics.read(name),
    }
  }

  #addFloor(task: CatalogTask): TaskSummary {
    return { ...task, guess_floor: this.#deps.cards.defaults(task.name)?.guess_floor.hardened ?? null }
  }
}
