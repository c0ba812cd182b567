/** docs/operations/metrics.md, the dashboard and the rules name what the server tells, and nothing else. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { METRICS } from '../../../src/platform/metrics/metric-definitions.ts'

const file = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

it('docs/operations/metrics.md lists every metric with its kind, labels and meaning', () => {
  const rows = [...file('docs/operations/metrics.md').matchAll(/^\| `(rgs_\w+)` \| (\w+) \| (.*?) \| (.*) \|$/gm)]
  const told = rows.map(([, name, kind, labels, help]) => ({
    name,
    kind,
    labels: [...(labels ?? '').matchAll(/`(\w+)`/g)].map(([, label]) => label),
    help,
  }))
  expect(told).toEqual(Object.entries(METRICS).map(([name, { kind, labels, help }]) => ({ name, kind, labels, help })))
})
