/** The routes of all adapters. */
import { addAtroposRoutes } from '../src/features/adapters/atropos/routes.ts'
import { addDatasetRoutes } from '../src/features/adapters/dataset/routes.ts'
import type { AdaptersFeature } from '../src/features/adapters/index.ts'
import { addAdapterListRoutes } from '../src/features/adapters/list-routes.ts'
import { addMcpRoutes } from '../src/features/adapters/mcp-routes.ts'
import { addNemoGymRoutes } from '../src/features/adapters/nemo-gym/index.ts'
import { addOpenenvRoutes } from '../src/features/adapters/openenv/index.ts'
import { addOpenrlhfRoutes } from '../src/features/adapters/openrlhf/index.ts'
import { addSampleRoutes } from '../src/features/adapters/samples.ts'
import { addSlimeRoutes } from '../src/features/adapters/slime.ts'
import type { BatchesFeature } from '../src/features/batches/index.ts'
import type { App } from '../src/http/app.ts'

export function addAdapterRoutes(app: App, adapters: AdaptersFeature, batches: BatchesFeature): void {
  // On shutdown, calls that wait for Redis or the engine are answered immediately.
  app.addHook('preClose', (done) => {
    adapters.samples.stopHolding()
    done()
  })
  addAdapterListRoutes(app, adapters)
  addSampleRoutes(app, adapters)
  addOpenrlhfRoutes(app, adapters)
  addSlimeRoutes(app, adapters)
  addNemoGymRoutes(app, adapters)
  addAtroposRoutes(app, { runBatches: adapters.createRunBatches(batches), usage: adapters.usage })
  addDatasetRoutes(app, adapters)
  addOpenenvRoutes(app, adapters)
  addMcpRoutes(app, adapters)
}
