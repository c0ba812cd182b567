/** A run as its parts are given it: what is stored of it, with the settings in force. */
import type { StoredRun } from '../store/runs.ts'
import { type RunSettings, resolveSettings } from '../words/run.ts'

export interface ResolvedRun extends StoredRun {
  settings: RunSettings
}

export function resolveRun(run: StoredRun): ResolvedRun {
  return { ...run, settings: resolveSettings(run.explicitSettings) }
}
