/** `npm run docs:reference`: writes the pages of docs/reference/ that are made from the code: http.md, settings.md and task-cards.md. A test holds them to it. */
import { writeFileSync } from 'node:fs'
import { REFERENCE_PAGES } from './reference/pages.ts'

for (const [file, page] of Object.entries(REFERENCE_PAGES))
  writeFileSync(new URL(`../docs/reference/${file}`, import.meta.url), page())
