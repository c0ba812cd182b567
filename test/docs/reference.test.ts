import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { ERROR_CODES } from '@reasoning-gym-server/contract/errors'
import { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { expect, it } from 'vitest'
import { readOpenApiDocument } from '../../scripts/reference/openapi-document.ts'
import { REFERENCE_PAGES } from '../../scripts/reference/pages.ts'
import { updateProvenTable } from '../../scripts/reference/trainers.ts'
import { EnvironmentSchema } from '../../src/platform/config.ts'
import { FLEET_GAUGES, PROCESS_METRICS } from '../../src/platform/metrics/metric-definitions.ts'

it.each(Object.entries(REFERENCE_PAGES))('docs/reference/%s matches the code; a mismatch rewrites it', (name, page) => {
  const file = new URL(`../../docs/reference/${name}`, import.meta.url)
  const written = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const wanted = page()
  if (written !== wanted) writeFileSync(file, wanted)
  expect(
    written === wanted,
    `docs/reference/${name} was out of date and has been rewritten: review and commit it`,
  ).toBe(true)
})

it('the table of docs/guides/trainers.md matches versions.json; a mismatch rewrites it', () => {
  const file = new URL('../../docs/guides/trainers.md', import.meta.url)
  const guide = readFileSync(file, 'utf8')
  const wanted = updateProvenTable(guide)
  if (guide !== wanted) writeFileSync(file, wanted)
  expect(guide === wanted, 'the table was out of date and has been rewritten: review and commit it').toBe(true)
})

it('the pages of settings show every setting with its default', () => {
  const runSettings = REFERENCE_PAGES['run-settings.md']?.() ?? ''
  for (const name of Object.keys(RunSettings.shape)) expect(runSettings).toContain(`| \`${name}\` |`)
  expect(runSettings).toMatch(/\| `group_size` \| integer \(1 to 1,024\) \| `16` \|/)
  expect(runSettings).toMatch(/\| `extraction` \|.*\| `"strict"` \| `"last_tag"` \|/)
  const environment = REFERENCE_PAGES['environment.md']?.() ?? ''
  for (const name of Object.keys(EnvironmentSchema.shape)) expect(environment).toContain(`| \`${name}\` |`)
  expect(environment).toMatch(/\| `PORT` \|.*\| `8000` \|/)
})

it('the page of errors shows every code, and the page of metrics every metric', () => {
  const errors = REFERENCE_PAGES['errors.md']?.() ?? ''
  for (const code of ERROR_CODES) expect(errors).toContain(`| \`${code}\` |`)
  const metrics = REFERENCE_PAGES['metrics.md']?.() ?? ''
  for (const name of [...Object.keys(PROCESS_METRICS), ...Object.keys(FLEET_GAUGES)])
    expect(metrics).toContain(`| \`${name}\` |`)
})

it('the page of schemas shows every schema, all types of a field and its description', () => {
  const page = REFERENCE_PAGES['schemas.md']?.() ?? ''
  const { components } = readOpenApiDocument()
  for (const name of Object.keys(components.schemas)) expect(page).toContain(`\n## ${name}\n`)
  const { description } = RunSettings.shape.group_size
  expect(page).toContain(`| \`group_size\` | integer (1 to 1,024) or null |  | ${description} |`)
  expect(page).toMatch(/## Rollout\n[\s\S]*?\| `logprobs` \| list of \(number or null\) or /)
})

it('the HTTP page shows every call of the API', () => {
  const page = REFERENCE_PAGES['http.md']?.() ?? ''
  const { paths } = readOpenApiDocument()
  const calls = Object.entries<object>(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `### ${method.toUpperCase()} ${path}`),
  )
  expect(page.match(/^### .+$/gm)?.toSorted()).toEqual(calls.toSorted())
})
