/** The pages that are made from the code, by the name of their file in docs/reference/. */
import { readFileSync } from 'node:fs'
import { inlineReferences } from '../../src/http/openapi/components.ts'
import { buildHttpPage, type OpenApi } from './http.ts'
import { buildSettingsPage } from './settings.ts'
import { buildTaskCardsPage } from './task-cards.ts'

type OpenApiDocument = OpenApi & { components: { schemas: Record<string, unknown> } }

const OPENAPI_DOCUMENT = new URL('../../openapi/openapi.json', import.meta.url)

export const REFERENCE_PAGES: Record<string, () => string> = {
  'http.md': () => {
    const document = JSON.parse(readFileSync(OPENAPI_DOCUMENT, 'utf8')) as OpenApiDocument // as the server wrote it
    return buildHttpPage(inlineReferences(document, document.components.schemas) as OpenApi)
  },
  'run-settings.md': buildSettingsPage,
  'tasks.md': buildTaskCardsPage,
}
