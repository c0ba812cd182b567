/** What a feature does in a process that takes jobs: it consumes its jobs, and does work that recurs. */
import type { Closable } from '../closers.ts'
import type { JobConsumer } from './job-definition.ts'

export interface BackgroundWork {
  consumers: JobConsumer[]
  /** Starts the recurring work. It is closed before the consumers stop. */
  startSweeper?(onError: (error: unknown) => void): Closable
  /** Called after the last job has ended. */
  close?(): Promise<void> | void
}
