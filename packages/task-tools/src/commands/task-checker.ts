/** What the commands need of the server, which has the engine, the tasks of the library and their recorded figures. */
import type { Finding } from '@reasoning-gym-server/contract/finding'
import type { TaskValidation } from '@reasoning-gym-server/contract/validation'
import type { TaskDefinition } from '../engine.ts'
import type { Scoring } from '../validation/checks.ts'

export interface TaskCheckers {
  builtInTasks: readonly string[]
  /** `place` is an entry of TASKS_PATH; without one, there are only the tasks of the library. */
  open: (place: string | undefined, report: (message: string) => void) => Promise<TaskChecker>
  readRecorded: (task: string, scoring: Scoring) => Promise<TaskValidation>
}

export interface TaskChecker {
  /** The tasks of the place, and its files that give none. */
  list(): Promise<{
    tasks: Record<string, TaskDefinition & { custom?: { file: string } }>
    problems: readonly { file: string; detail: string }[]
  }>
  checkUnitTests(): Promise<Finding | undefined>
  check(task: string, onFinding: (finding: Finding) => Promise<void>): Promise<Finding[]>
  /** Measures a task at its defaults and on each rung. */
  validate(task: string, scoring: Scoring): Promise<TaskValidation>
  close(): Promise<void>
}
