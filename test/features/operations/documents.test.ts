/** docs/operations/monitoring.md lists the metrics that the server exports, and no others. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { FLEET_GAUGES, PROCESS_METRICS } from '../../../src/platform/metrics/metric-definitions.ts'

const page = readFileSync(new URL('../../../docs/operations/monitoring.md', import.meta.url), 'utf8')

function readTable(heading: string) {
  const section = page.split(/^## /m).find((text) => text.startsWith(heading)) ?? ''
  const rows = [...section.matchAll(/^\| `(rgs_\w+)` \| (\w+) \| (.*?) \| (.*) \|$/gm)]
  return rows.map(([, name, kind, labels, help]) => ({
    name,
    kind,
    labels: [...(labels ?? '').matchAll(/`(\w+)`/g)].map(([, label]) => label),
    help,
  }))
}

it('docs/operations/monitoring.md lists every metric of a process with its kind, labels and meaning', () => {
  expect(readTable('Process metrics')).toEqual(
    Object.entries(PROCESS_METRICS).map(([name, { kind, labels, help }]) => ({ name, kind, labels, help })),
  )
})

it('docs/operations/monitoring.md lists every fleet gauge with its labels and meaning', () => {
  expect(readTable('Fleet gauges')).toEqual(
    Object.entries(FLEET_GAUGES).map(([name, { labels, help }]) => ({ name, kind: 'gauge', labels, help })),
  )
})
