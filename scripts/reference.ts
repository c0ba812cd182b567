/** `npm run docs:reference`: writes the generated pages of docs/reference/. A test fails when they are out of date. */
import { writeFileSync } from 'node:fs'
import { REFERENCE_PAGES } from './reference/pages.ts'

for (const [file, page] of Object.entries(REFERENCE_PAGES))
  writeFileSync(new URL(`../docs/reference/${file}`, import.meta.url), page())
