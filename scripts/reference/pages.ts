/** The generated pages of docs/reference/, by file name. docs/reference/cli.md is written by test/cli/docs.test.ts. */
import { buildAccessPage } from './access.ts'
import { buildEnvironmentPage } from './environment.ts'
import { buildErrorsPage } from './errors.ts'
import { buildHttpPage } from './http.ts'
import { buildMetricsPage } from './metrics.ts'
import { readOpenApiDocument } from './openapi-document.ts'
import { buildRunSettingsPage } from './run-settings.ts'
import { buildSchemasPage } from './schemas.ts'
import { buildTasksPage } from './tasks.ts'

export const REFERENCE_PAGES: Record<string, () => string> = {
  'access.md': buildAccessPage,
  'environment.md': buildEnvironmentPage,
  'errors.md': buildErrorsPage,
  'http.md': () => buildHttpPage(readOpenApiDocument()),
  'metrics.md': buildMetricsPage,
  'run-settings.md': buildRunSettingsPage,
  'schemas.md': () => buildSchemasPage(readOpenApiDocument()),
  'tasks.md': buildTasksPage,
}
