/** What a feature does in a worker: it consumes its jobs and runs its recurring work. */
import type { Closable } from '../closers.ts'
import type { JobConsumer } from './job-definition.ts'
import type { ScheduledTask } from './schedules.ts'

export interface BackgroundWork {
  consumers: JobConsumer[]
  /** Recurring work that any worker can do for the whole fleet. */
  scheduledTasks?: ScheduledTask[]
  /** Recurring work on what this process holds, such as its folder or its connections. Closed before the consumers stop. */
  startLocalTimer?(onError: (error: unknown) => void): Closable
  /** Called after the last job has ended. */
  close?(): Promise<void> | void
}
