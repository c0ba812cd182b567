/** The generated pages of docs/reference/, by file name. Tests write the others: cli.md, and access.md from the routes. */
import { buildEnvironmentPage } from './environment.ts'
import { buildErrorsPage } from './errors.ts'
import { buildHttpPage } from './http.ts'
import { buildMetricsPage } from './metrics.ts'
import { readOpenApiDocument } from './openapi-document.ts'
import { buildRunSettingsPage } from './run-settings.ts'
import { buildSchemasPage } from './schemas.ts'
import { buildTasksPage } from './tasks.ts'

export const REFERENCE_PAGES: Record<string, () => string> = {
  'environment.md': buildEnvironmentPage,
  'errors.md': buildErrorsPage,
  'http.md': () => buildHttpPage(readOpenApiDocument()),
  'metrics.md': buildMetricsPage,
  'run-settings.md': buildRunSettingsPage,
  'schemas.md': () => buildSchemasPage(readOpenApiDocument()),
  'tasks.md': buildTasksPage,
}
