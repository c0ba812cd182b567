/** The generated pages of docs/reference/, by file name. docs/reference/cli.md is written by test/cli/docs.test.ts. */
import { readFileSync } from 'node:fs'
import { inlineReferences } from '../../src/http/openapi/components.ts'
import { buildAccessPage } from './access.ts'
import { buildEnvironmentPage } from './environment.ts'
import { buildErrorsPage } from './errors.ts'
import { buildHttpPage, type OpenApi } from './http.ts'
import { buildMetricsPage } from './metrics.ts'
import { buildRunSettingsPage } from './run-settings.ts'
import { buildTasksPage } from './tasks.ts'

type OpenApiDocument = OpenApi & { components: { schemas: Record<string, unknown> } }

const OPENAPI_DOCUMENT = new URL('../../openapi/openapi.json', import.meta.url)

export const REFERENCE_PAGES: Record<string, () => string> = {
  'access.md': buildAccessPage,
  'environment.md': buildEnvironmentPage,
  'errors.md': buildErrorsPage,
  'http.md': () => {
    const document = JSON.parse(readFileSync(OPENAPI_DOCUMENT, 'utf8')) as OpenApiDocument // as the server wrote it
    return buildHttpPage(inlineReferences(document, document.components.schemas) as OpenApi)
  },
  'metrics.md': buildMetricsPage,
  'run-settings.md': buildRunSettingsPage,
  'tasks.md': buildTasksPage,
}
