/** The routes of all adapters. */
import { addAtroposRoutes } from '../src/features/adapters/atropos/index.ts'
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
import { addRoutesWithAccess } from '../src/http/auth/access.ts'

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
  addRoutesWithAccess(app, 'trainers', (scope) => addAtroposRoutes(scope, adapters, batches))
  addDatasetRoutes(app, adapters)
  addRoutesWithAccess(app, 'trainers', (scope) => addOpenenvRoutes(scope, adapters))
  addRoutesWithAccess(app, 'trainers', (scope) => addMcpRoutes(scope, adapters))
}
