/**
 * The trajectory API of Atropos: its environments submit groups here and its trainers take batches, as from its own
 * server.
 */
import type { App } from '../../../http/app.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { BatchesFeature } from '../../batches/index.ts'
import type { RunsFeature } from '../../runs/index.ts'
import type { AdapterUsage } from '../usage.ts'
import { addEnvironmentRoutes } from './environment-routes.ts'
import { RunBatches } from './run-batches.ts'
import { addRunRoutes } from './run-routes.ts'
import { TrajectoryStore } from './store.ts'
import { StoreRepository } from './store-repository.ts'
import { STORE_PATHS } from './store-schemas.ts'
import { addTrainerRoutes } from './trainer-routes.ts'

const MAX_STORE_BYTES = 1024 ** 3

export interface AtroposStores {
  /** Returns a store. With `name` undefined, it is the store of `/atropos` itself. */
  get(name: string | undefined): TrajectoryStore
  /** Creates the batches of runs, for a process that delivers them. */
  createRunBatches(batches: BatchesFeature): RunBatches
}

export function createAtroposStores({ redis, keys, config }: Platform, runs: RunsFeature): AtroposStores {
  const maxBytes = Math.min(MAX_STORE_BYTES, config.BUFFER_MAX_BYTES)
  return {
    get: (name) => new TrajectoryStore(new StoreRepository(redis, keys, name ?? null), maxBytes),
    createRunBatches: (batches) => new RunBatches({ redis, keys, runs, batches }),
  }
}

export function addAtroposRoutes(
  app: App,
  { atropos: stores, usage }: { atropos: AtroposStores; usage: AdapterUsage },
  batches: BatchesFeature,
): void {
  for (const path of STORE_PATHS) {
    addTrainerRoutes(app, stores, path)
    addEnvironmentRoutes(app, { stores, usage }, path)
  }
  addRunRoutes(app, { runBatches: stores.createRunBatches(batches), usage })
}
