/** Items: recipes are validated, and the engine makes their items, whose entries are kept for scoring. */
import type { Engine } from '../../engine/engine.ts'
import type { Platform } from '../../platform/platform.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { ItemEntryCache, QuestionIndex } from './entry-cache.ts'
import { EvalQuestions } from './eval-questions.ts'
import { Items } from './items.ts'

interface ItemsDeps {
  engine: Engine
  tasks: TasksFeature
}

export type ItemsFeature = ReturnType<typeof createItems>

export function createItems({ redis, keys, recorder }: Platform, { engine, tasks }: ItemsDeps) {
  const items = new Items({
    engine,
    entries: new ItemEntryCache(redis, keys),
    questions: new QuestionIndex(redis, keys),
    ladders: tasks.ladders,
    tasks: tasks.tasks,
    statistics: tasks.statistics,
    recorder,
  })
  return { items, evalQuestions: new EvalQuestions() }
}
