/** What a run needs of its dump files, which are a later feature. */
import type { DumpProgress } from '../../contract/dump.ts'
import type { ResolvedRun } from './resolved-run.ts'

/** A run of the same name that comes later has another uuid. */
export type DumpedRun = Pick<ResolvedRun, 'name' | 'uuid'>

export interface RunDumps {
  getProgress(run: DumpedRun): Promise<DumpProgress>
  /** Freezes the groups that wait for a full file, so that workers write them. */
  flush(run: DumpedRun): Promise<void>
}
