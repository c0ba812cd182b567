/** The work of a feature in a worker: jobs to consume and recurring work. */
import type { Closable } from '../closers.ts'
import type { JobConsumer } from './job-definition.ts'
import type { ScheduledTask } from './schedules.ts'

export interface BackgroundWork {
  consumers: JobConsumer[]
  /** Recurring work that any worker can do for the whole fleet. */
  scheduledTasks?: ScheduledTask[]
  /** Recurring work on resources of this process, such as its folder or connections. Closed before the consumers stop. */
  startLocalTimer?(onError: (error: unknown) => void): Closable
  /** Called after the last job has ended. */
  close?(): Promise<void> | void
}
