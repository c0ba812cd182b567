import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { ERROR_CODES } from '@reasoning-gym-server/contract/errors'
import { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { expect, it } from 'vitest'
import { buildErrorsPage } from '../../scripts/reference/errors.ts'
import { buildLimitsPage } from '../../scripts/reference/limits.ts'
import { buildMetricsPage } from '../../scripts/reference/metrics.ts'
import { buildEnvironmentPage, buildRunSettingsPage } from '../../scripts/reference/settings.ts'
import { buildTasksPage } from '../../scripts/reference/tasks.ts'
import { buildTrainerPages } from '../../scripts/reference/trainers.ts'
import { EnvironmentSchema } from '../../src/platform/environment.ts'
import { FLEET_GAUGES, PROCESS_METRICS } from '../../src/platform/metrics/metric-definitions.ts'

/** The generated pages of docs/reference. Another test writes cli.md. */
const REFERENCE_PAGES: Record<string, () => string> = {
  'environment.md': buildEnvironmentPage,
  'errors.md': buildErrorsPage,
  'limits.md': buildLimitsPage,
  'metrics.md': buildMetricsPage,
  'run-settings.md': buildRunSettingsPage,
  'tasks.md': buildTasksPage,
}

const PAGES = [
  ...Object.entries(REFERENCE_PAGES).map(([name, page]) => [`reference/${name}`, page] as const),
  ...Object.entries(buildTrainerPages()).map(([name, page]) => [`trainers/${name}`, () => page] as const),
]

it.each(PAGES)('docs/%s matches the code; a mismatch rewrites it', (name, page) => {
  const file = new URL(`../../docs/${name}`, import.meta.url)
  const written = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const wanted = page()
  if (written !== wanted) writeFileSync(file, wanted)
  expect(written === wanted, `docs/${name} was out of date and has been rewritten: review and commit it`).toBe(true)
})

it('the pages of settings show every setting with its default', () => {
  const runSettings = REFERENCE_PAGES['run-settings.md']?.() ?? ''
  for (const name of Object.keys(RunSettings.shape)) expect(runSettings).toContain(`| \`${name}\` |`)
  expect(runSettings).toMatch(/\| `group_size` \| integer \(1 to 1,024\) \| `16` \|/)
  expect(runSettings).toMatch(/\| `extraction` \|.*\| `"strict"`, `clean`: `"last_tag"` \|/)
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
