/** The routes of all adapters. */
import type { AdaptersFeature } from '../src/features/adapters/index.ts'
import type { App } from '../src/http/app.ts'

export function addAdapterRoutes(_app: App, _adapters: AdaptersFeature): void {}
