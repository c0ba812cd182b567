/** Interface of the dump files for runs. Dumps are a later feature. */
import type { DumpProgress } from '@reasoning-gym-server/contract/dump'
import type { ResolvedRun } from './resolved-run.ts'

/** The run that dump files belong to. A later run of the same name has another UUID. */
export type DumpedRun = Pick<ResolvedRun, 'name' | 'uuid'>

export interface RunDumps {
  getProgress(run: DumpedRun): Promise<DumpProgress>
  /** Freezes the groups that wait for a full file, so that workers write them. */
  flush(run: DumpedRun): Promise<void>
}
