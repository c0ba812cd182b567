/** The tasks of the library, with what the server adds to each, known without Python. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Credit } from '@reasoning-gym-server/contract/task'

export interface BuiltInTask {
  category: string
  description: string
  credit: Credit
  public_benchmark?: string
  shortcut?: string
}

export const BUILT_IN_TASKS = JSON.parse(readFileSync(join(import.meta.dirname, 'tasks.json'), 'utf8')) as Record<
  string,
  BuiltInTask
> // test/features/tasks compares it with the library's registry

export const TASK_NAMES = Object.keys(BUILT_IN_TASKS)
