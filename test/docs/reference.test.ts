import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { REFERENCE_PAGES } from '../../scripts/reference/pages.ts'
import { updateProvenTable } from '../../scripts/reference/trainers.ts'
import { RunSettings } from '../../src/contract/run.ts'
import { EnvironmentSchema } from '../../src/platform/config.ts'

it.each(Object.entries(REFERENCE_PAGES))(
  'docs/reference/%s is what the code says; a change writes it anew',
  (name, page) => {
    const file = new URL(`../../docs/reference/${name}`, import.meta.url)
    const written = existsSync(file) ? readFileSync(file, 'utf8') : ''
    const wanted = page()
    if (written !== wanted) writeFileSync(file, wanted)
    expect(
      written === wanted,
      `docs/reference/${name} was out of date and is written now: look at it and commit it`,
    ).toBe(true)
  },
)

it('docs/guides/trainers.md says what was proven when; a new proof writes it anew', () => {
  const file = new URL('../../docs/guides/trainers.md', import.meta.url)
  const guide = readFileSync(file, 'utf8')
  const wanted = updateProvenTable(guide)
  if (guide !== wanted) writeFileSync(file, wanted)
  expect(guide === wanted, 'the table was out of date and is written now: look at it and commit it').toBe(true)
})

it('settings are told with their defaults', () => {
  const page = REFERENCE_PAGES['run-settings.md']?.() ?? ''
  for (const name of [...Object.keys(RunSettings.shape), ...Object.keys(EnvironmentSchema.shape)])
    expect(page).toContain(`| \`${name}\` |`)
  expect(page).toMatch(/\| `group_size` \| integer \(1 to 1,024\) \| `16` \|/)
  expect(page).toMatch(/\| `extraction` \|.*\| `"strict"` \| `"last_tag"` \|/)
  expect(page).toMatch(/\| `PORT` \|.*\| `8000` \|/)
})

it('what a field or an answer of several forms may be is told', () => {
  const page = REFERENCE_PAGES['http.md']?.() ?? ''
  expect(page).toContain('| `dual_format` | boolean or null |')
  const { description } = RunSettings.shape.group_size
  expect(page).toContain(`| \`group_size\` | integer (1 to 1,024) or null | ${description} |`)
  expect(page).toContain('| `rollouts[].logprobs` | list of (number or null) or object |')
  expect(page).toMatch(/\*\*202\*\*: `group_id`, .*; or `groups`/)
})

it('every call of the API is told', () => {
  const page = REFERENCE_PAGES['http.md']?.() ?? ''
  const { paths } = JSON.parse(readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8'))
  const calls = Object.entries<object>(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `### ${method.toUpperCase()} ${path}`),
  )
  expect(page.match(/^### .+$/gm)?.toSorted()).toEqual(calls.toSorted())
})
