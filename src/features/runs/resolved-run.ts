/** A run as its parts are given it: what is stored of it, with the settings in force. */

import { type RunSettings, resolveSettings } from '../../contract/run.ts'
import type { StoredRun } from './repository.ts'

export interface ResolvedRun extends StoredRun {
  settings: RunSettings
}

export function resolveRun(run: StoredRun): ResolvedRun {
  return { ...run, settings: resolveSettings(run.explicitSettings) }
}
