/** docs/reference/metrics.md: every Prometheus metric, from the definitions that the server exports. */
import { FLEET_GAUGES, PROCESS_METRICS } from '../../src/platform/metrics/metric-definitions.ts'
import { formatTable } from './page-parts.ts'

const HEAD = ['metric', 'kind', 'labels', 'meaning']

export function buildMetricsPage(): string {
  const processRows = Object.entries(PROCESS_METRICS).map(([name, { kind, labels, help }]) =>
    formatRow(name, kind, labels, help),
  )
  const fleetRows = Object.entries(FLEET_GAUGES).map(([name, { labels, help }]) =>
    formatRow(name, 'gauge', labels, help),
  )
  return [
    '# Metrics',
    'This page lists every metric that `GET /metrics` exports in the Prometheus text format. Names and labels are stable; new ones may be\nadded. [Monitoring](../operations/monitoring.md) explains what to scrape, the dashboard and the alerts.',
    '## Process metrics',
    'Each process counts its own work: **sum these over all targets.** Each process also exports the\n[default metrics of prom-client](https://github.com/siimon/prom-client#default-metrics): memory, CPU time, event loop lag, garbage\ncollection and more.',
    formatTable(HEAD, processRows),
    '## Fleet gauges',
    'API targets read these from Redis during the scrape, and each target exports the same values: **aggregate them with `max`,\nnever with `sum`.** Worker targets do not export them.',
    formatTable(HEAD, fleetRows),
    '',
  ].join('\n\n')
}

function formatRow(name: string, kind: string, labels: readonly string[], help: string): string[] {
  return [`\`${name}\``, kind, labels.map((label) => `\`${label}\``).join(', ') || '–', help]
}
