/** The pages that are made from the code, by the name of their file in docs/. */
import { readFileSync } from 'node:fs'
import { httpPage, type OpenApi } from './http.ts'
import { settingsPage } from './settings.ts'

const DOCUMENT = new URL('../../openapi/openapi.json', import.meta.url)

export const PAGES: Record<string, () => string> = {
  'http.md': () => httpPage(JSON.parse(readFileSync(DOCUMENT, 'utf8')) as OpenApi), // as the server wrote it
  'settings.md': settingsPage,
}
