/** A run as its parts are given it: what is stored of it, with the settings in force. */
import type { StoredRun } from '../store/runs.ts'
import { type RunSettings, settingsInForce } from '../words/run.ts'

export interface OpenRun extends StoredRun {
  settings: RunSettings
}

export function opened(run: StoredRun): OpenRun {
  return { ...run, settings: settingsInForce(run.named) }
}
