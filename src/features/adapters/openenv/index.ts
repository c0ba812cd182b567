/** Creates the objects that the routes of OpenEnv need. */
import type { Platform } from '../../../platform/platform.ts'
import type { ItemsFeature } from '../../items/index.ts'
import type { RunsFeature } from '../../runs/index.ts'
import type { TasksFeature } from '../../tasks/index.ts'
import type { SampleScoring } from '../sample-scoring.ts'
import { EpisodeItems, OpenEnvEnvironment } from './environment.ts'
import { OpenEnvSockets } from './sockets.ts'

interface OpenenvDeps {
  tasks: TasksFeature
  items: ItemsFeature
  runs: RunsFeature
}

export interface Openenv {
  environment: OpenEnvEnvironment
  sockets: OpenEnvSockets
}

export function createOpenenv(
  { config }: Platform,
  { tasks: { tasks }, items: { items }, runs: { runs, itemQueue } }: OpenenvDeps,
  samples: SampleScoring,
): Openenv {
  return {
    environment: new OpenEnvEnvironment({ items: new EpisodeItems({ items, tasks, runs, itemQueue }), samples }),
    sockets: new OpenEnvSockets({
      maxSockets: config.OPENENV_MAX_SOCKETS,
      idleMs: config.OPENENV_IDLE_S * 1000,
      maxUnfinishedBytes: config.BODIES_MAX_BYTES,
    }),
  }
}
