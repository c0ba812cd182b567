/** The generated pages of docs/reference/, by file name. Tests write the others: cli.md, and access.md from the routes. */
import { buildEnvironmentPage } from './environment.ts'
import { buildErrorsPage } from './errors.ts'
import { buildMetricsPage } from './metrics.ts'
import { buildRunSettingsPage } from './run-settings.ts'
import { buildTasksPage } from './tasks.ts'

export const REFERENCE_PAGES: Record<string, () => string> = {
  'environment.md': buildEnvironmentPage,
  'errors.md': buildErrorsPage,
  'metrics.md': buildMetricsPage,
  'run-settings.md': buildRunSettingsPage,
  'tasks.md': buildTasksPage,
}
