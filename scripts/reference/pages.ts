/** The pages that are made from the code, by the name of their file in docs/. */
import { readFileSync } from 'node:fs'
import { buildHttpPage, type OpenApi } from './http.ts'
import { buildSettingsPage } from './settings.ts'

const OPENAPI_DOCUMENT = new URL('../../openapi/openapi.json', import.meta.url)

export const REFERENCE_PAGES: Record<string, () => string> = {
  'http.md': () => buildHttpPage(JSON.parse(readFileSync(OPENAPI_DOCUMENT, 'utf8')) as OpenApi), // as the server wrote it
  'settings.md': buildSettingsPage,
}
