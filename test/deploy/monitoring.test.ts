/** The alert rules and the Grafana dashboard: expressions that Prometheus can read, of metrics and labels that there are. */
import { parser } from '@prometheus-io/lezer-promql'
import { expect, it } from 'vitest'
import { METRICS } from '../../src/platform/metrics/metric-definitions.ts'
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

it.each(EXPRESSIONS)('%s: %s', (_, expression) => {
  const plain = expression.replaceAll('$__rate_interval', '5m').replaceAll('"$run"', '".*"')
  const wrong: string[] = []
  const metrics: string[] = []
  const labels: string[] = []
  parser.parse(plain).iterate({
    enter: (node) => {
      const word = plain.slice(node.from, node.to)
      if (node.type.isError) wrong.push(word)
      if (node.name === 'Identifier' && word.startsWith('rgs_')) metrics.push(word)
      if (node.name === 'LabelName') labels.push(word)
    },
  })
  expect(wrong).toEqual([])
  expect(metrics.length).toBeGreaterThan(0)
  const known = metrics.map((name) => {
    const bare = name.replace(/_(bucket|sum|count)$/, '')
    const metric = METRICS[bare as keyof typeof METRICS]
    expect([name, metric?.kind === 'histogram' ? 'histogram' : name]).toEqual([
      name,
      bare === name ? name : 'histogram',
    ])
    return metric
  })
  for (const label of labels.filter((each) => each !== 'le')) {
    expect([label, known.some((metric) => (metric.labels as readonly string[]).includes(label))]).toEqual([label, true])
  }
})

it('every metric of the catalogue that can alarm has words to act on', () => {
  expect(rules.length).toBeGreaterThan(5)
  for (const { annotations } of rules) expect(annotations.summary.length).toBeGreaterThan(20)
})

it('Prometheus, its rules and Grafana find each other', () => {
  const prometheus = yaml('deploy/prometheus/prometheus.yml')
  expect(prometheus.rule_files).toEqual(['alerts.yml'])
  expect(prometheus.scrape_configs[0].static_configs[0].targets).toEqual(['api:8000'])
  const { path } = yaml('deploy/grafana/provisioning/dashboards/reasoning-gym.yml').providers[0].options
  expect(yaml('docker-compose.yml').services.grafana.volumes).toContain(`./deploy/grafana/dashboards:${path}:ro`)
})
