/** A stored run together with its effective settings. */

import { type RunSettings, resolveSettings } from '@reasoning-gym-server/contract/run-settings'
import type { StoredRun } from './repository.ts'

export interface ResolvedRun extends StoredRun {
  settings: RunSettings
}

export function resolveRun(run: StoredRun): ResolvedRun {
  return { ...run, settings: resolveSettings(run.explicitSettings) }
}
