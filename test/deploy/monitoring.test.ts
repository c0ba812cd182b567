/** The alert rules and the Grafana dashboard: valid expressions over existing metrics and labels, aggregated rightly. */
import { parser } from '@prometheus-io/lezer-promql'
import { expect, it } from 'vitest'
import { FLEET_GAUGES, PROCESS_METRICS } from '../../src/platform/metrics/metric-definitions.ts'
import { MetricsRecorder } from '../../src/platform/metrics/metrics-recorder.ts'
import { text, yaml } from './files.ts'

interface Panel {
  title: string
  targets?: { expr: string }[]
}
const dashboard = JSON.parse(text('deploy/grafana/dashboards/reasoning-gym.json')) as { panels: Panel[] } // as Grafana has it
const rules: { alert: string; expr: string; annotations: { summary: string } }[] = yaml(
  'deploy/prometheus/alerts.yml',
).groups.flatMap((group: { rules: object[] }) => group.rules)
const EXPRESSIONS: [string, string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }): [string, string] => [title, expr])),
]

interface Metric {
  kind: string
  labels: readonly string[]
}

/** prom-client's default metrics carry the labels of their process. */
async function listDefaultMetrics(): Promise<[string, Metric][]> {
  const { registry } = new MetricsRecorder({ process: 'a', role: 'api' })
  const metrics = await registry.getMetricsAsJSON()
  return metrics
    .filter(({ name }) => !name.startsWith('rgs_'))
    .map(({ name, type }) => [name, { kind: String(type), labels: ['process', 'role'] }])
}

const METRICS = new Map<string, Metric>([
  ...(await listDefaultMetrics()),
  ...Object.entries(PROCESS_METRICS),
  ...Object.entries(FLEET_GAUGES).map(([name, { labels }]): [string, Metric] => [name, { kind: 'gauge', labels }]),
])

interface Expression {
  metrics: string[]
  labels: string[]
  functions: string[]
  errors: string[]
}

function parseExpression(expression: string): Expression {
  const text = expression.replaceAll('$__rate_interval', '5m').replaceAll('"$run"', '".*"')
  const found: Expression = { metrics: [], labels: [], functions: [], errors: [] }
  parser.parse(text).iterate({
    enter: ({ name, type, from, to, node }) => {
      const word = text.slice(from, to)
      if (type.isError) found.errors.push(word)
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') found.metrics.push(word)
      if (name === 'LabelName') found.labels.push(word)
      if (name === 'AggregateOp') found.functions.push(word)
    },
  })
  return found
}

it.each(EXPRESSIONS)('%s: %s', (_, expression) => {
  const { metrics, labels, functions, errors } = parseExpression(expression)
  expect(errors).toEqual([])
  expect(metrics.length).toBeGreaterThan(0)
  const known = metrics.map((name) => {
    const metric = METRICS.get(name) ?? METRICS.get(name.replace(/_(bucket|sum|count)$/, ''))
    expect([name, metric?.kind === 'histogram']).toEqual([name, !METRICS.has(name)]) // its parts have no row of their own
    return metric
  })
  for (const label of labels.filter((each) => each !== 'le'))
    expect([label, known.some((metric) => metric?.labels.includes(label))]).toEqual([label, true])
  if (metrics.some((name) => name in FLEET_GAUGES)) expect(functions).not.toContain('sum')
  else expect(functions.filter((name) => name === 'max')).toEqual(expression.includes('rgs_redis_up') ? ['max'] : [])
})

it('every alert has a summary, and a row of docs/operations/monitoring.md that says what to do', () => {
  const headings = [...text('docs/operations/monitoring.md').matchAll(/^\| `(ReasoningGym\w+)` \|/gm)].map(
    ([, heading]) => heading,
  )
  expect(headings).toEqual(rules.map(({ alert }) => alert))
  for (const { annotations } of rules) expect(annotations.summary.length).toBeGreaterThan(20)
})

it('Prometheus, its rules and Grafana find each other', () => {
  const prometheus = yaml('deploy/prometheus/prometheus.yml')
  expect(prometheus.rule_files).toEqual(['alerts.yml'])
  const { api, worker } = yaml('docker-compose.yml').services
  expect([api.command, worker.command]).toEqual([['api'], ['worker']])
  expect(prometheus.scrape_configs[0].dns_sd_configs).toEqual([
    { names: ['api'], type: 'A', port: 8000 },
    { names: ['worker'], type: 'A', port: 8001 },
  ])
  const { path } = yaml('deploy/grafana/provisioning/dashboards/reasoning-gym.yml').providers[0].options
  expect(yaml('docker-compose.yml').services.grafana.volumes).toContain(`./deploy/grafana/dashboards:${path}:ro`)
})
