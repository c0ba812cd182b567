/** The routes of all adapters. */
import { addAtroposRoutes } from '../src/features/adapters/atropos/routes.ts'
import { addAdapterListRoutes } from '../src/features/adapters/catalogue.ts'
import { addDatasetRoutes } from '../src/features/adapters/dataset/routes.ts'
import type { AdaptersFeature } from '../src/features/adapters/index.ts'
import { addMcpRoutes } from '../src/features/adapters/mcp/routes.ts'
import { addNemoGymRoutes } from '../src/features/adapters/nemo-gym/routes.ts'
import { addOpenenvRoutes } from '../src/features/adapters/openenv/routes.ts'
import { addRewardRoutes } from '../src/features/adapters/reward-route.ts'
import { REWARD_WIRES } from '../src/features/adapters/reward-wires/index.ts'
import type { BatchesFeature } from '../src/features/batches/index.ts'
import type { App } from '../src/http/app.ts'
import { addRoutesWithAccess } from '../src/http/auth/authorization.ts'

export function addAdapterRoutes(app: App, adapters: AdaptersFeature, batches: BatchesFeature): void {
  addAdapterListRoutes(app, adapters)
  for (const wire of REWARD_WIRES) addRewardRoutes(app, adapters, wire)
  addNemoGymRoutes(app, adapters)
  addRoutesWithAccess(app, 'trainers', (scope) =>
    addAtroposRoutes(scope, { runBatches: adapters.createRunBatches(batches), usage: adapters.usage }),
  )
  addDatasetRoutes(app, adapters)
  addRoutesWithAccess(app, 'trainers', (scope) => addOpenenvRoutes(scope, adapters))
  addRoutesWithAccess(app, 'trainers', (scope) => addMcpRoutes(scope, adapters))
}
