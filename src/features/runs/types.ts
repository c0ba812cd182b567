/** A run as stored and with its effective settings, and what runs need from the dumps and evals, which are later features. */
import type { Caller } from '@reasoning-gym-server/contract/caller'
import type { DumpProgress } from '@reasoning-gym-server/contract/dump'
import type { ForkOrigin, RunLifecycle } from '@reasoning-gym-server/contract/run-control'
import { type RunSettings, resolveSettings, type SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import type { RunValues } from './records.ts'

type RunCounters = Omit<
  RunValues,
  | 'incarnation'
  | 'epoch'
  | 'revision'
  | 'created_at'
  | 'configured_at'
  | 'recreated_at'
  | 'settings'
  | 'lifecycle'
  | 'lifecycle_at'
  | 'steps_named_by'
  | 'resume_id'
  | 'forked_from'
>

export interface StoredRun {
  name: string
  epoch: number
  revision: number
  /** Identifies this incarnation and distinguishes it from other runs of the same name. */
  incarnation: string
  created: number
  /** Whether a call put settings or restored a checkpoint. If not, the first use created the run. */
  isConfigured: boolean
  /** Time at which a process noticed that Redis had lost the run and that it was created again, in milliseconds. */
  recreatedAt: number | undefined
  /** Whether the run is still in use, and since when it is not, in milliseconds. */
  lifecycle: RunLifecycle
  lifecycleAt: number | undefined
  /** Undefined if the run is no fork. */
  forkedFrom: ForkOrigin | undefined
  explicitSettings: SettingsChange
  counters: RunCounters
}

export interface ResolvedRun extends StoredRun {
  settings: RunSettings
}

export function resolveRun(run: StoredRun): ResolvedRun {
  return { ...run, settings: resolveSettings(run.explicitSettings) }
}

/** The run that dump files belong to. A later run of the same name has another incarnation. */
export type DumpedRun = Pick<ResolvedRun, 'name' | 'incarnation'>

export interface RunDumps {
  getProgress(run: DumpedRun): Promise<DumpProgress>
  /** Freezes the groups that wait for a full file, so that workers write them. */
  flush(run: DumpedRun): Promise<void>
}

export interface MeasuredItem {
  task: string
  difficulty: number
  score: number
  samples: number
  /** Share of the samples with an answer in the right format. */
  formatted: number
}

export interface RunEvals {
  /**
   * Throws `unknown_eval`, `forbidden`, and `invalid_request` if the eval is not finished or has measured no item of a
   * ladder.
   */
  measure(id: string, caller: Caller): Promise<{ scoring: RunSettings['scoring']; items: MeasuredItem[] }>
}
