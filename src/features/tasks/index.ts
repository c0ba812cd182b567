/** Tasks: the library's tasks, their ladders of difficulty, and figures per task. */
import { isDeepStrictEqual } from 'node:util'
import type { Item } from '@reasoning-gym-server/contract/item'
import type { Engine } from '../../engine/engine.ts'
import type { Platform } from '../../platform/platform.ts'
import { Ladders } from './ladders.ts'
import { TaskCards } from './task-cards.ts'
import { TaskCatalog } from './task-catalog.ts'
import { TaskCodeClaims } from './task-code-claims.ts'
import { TaskDetails, TaskStatisticsRecorder } from './task-details.ts'

interface TasksDeps {
  engine: Engine
  /** Returns an example item of a task, or null if it cannot be made in time. */
  getExample: (task: string) => Promise<Item | null>
}

export type TasksFeature = ReturnType<typeof createTasks>

export function createTasks({ redis, keys, config, log, identity }: Platform, { engine, getExample }: TasksDeps) {
  const ladders = new Ladders()
  const cards = new TaskCards(ladders)
  const codeClaims = new TaskCodeClaims({ redis, keys, processName: identity.process, log })
  const tasks = new TaskCatalog(engine, ladders, (task) => codeClaims.conflictOf(task))
  const statistics = new TaskStatisticsRecorder(redis, keys)
  let announced: unknown
  const details = new TaskDetails({ engine, tasks, ladders, cards, statistics, getExample })
  return {
    tasks,
    details,
    ladders,
    cards,
    statistics,
    async loadRegistry() {
      await tasks.loadRegistry()
      if (!tasks.isLoaded) return
      await codeClaims.claim(tasks.customCodes)
      const loaded = [tasks.customCodes, tasks.problems]
      if (isDeepStrictEqual(loaded, announced)) return
      announced = loaded
      const library = { library: 'reasoning-gym', version: engine.version, tasks: tasks.list().length }
      log.info({ ...library, data: config.DATA_DIR }, 'tasks loaded')
      for (const { file, detail } of tasks.problems) log.error({ file, detail }, 'a file of TASKS_PATH gives no task')
    },
    async close() {
      await codeClaims.close()
      await statistics.close()
    },
  }
}
