/**
 * `npm run docs:reference`: writes the generated pages of docs/reference/ and the generated parts of
 * docs/guides/trainers.md. A test fails when they are out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { REFERENCE_PAGES } from './reference/pages.ts'
import { updateProvenTable, updateTrainerSections } from './reference/trainers.ts'

for (const [file, page] of Object.entries(REFERENCE_PAGES))
  writeFileSync(new URL(`../docs/reference/${file}`, import.meta.url), page())

const guide = new URL('../docs/guides/trainers.md', import.meta.url)
writeFileSync(guide, updateProvenTable(updateTrainerSections(readFileSync(guide, 'utf8'))))
