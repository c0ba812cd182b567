/** npm run docs:capacity: writes the table of docs/design/capacity.md from the model. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceCapacityTable } from './capacity/table.ts'

const PAGE = join(import.meta.dirname, '..', 'docs', 'design', 'capacity.md')
writeFileSync(PAGE, replaceCapacityTable(readFileSync(PAGE, 'utf8')))
