/** Prometheus text from the shared sums and the gauges of the moment. */
import { AggregatorRegistry } from 'prom-client'
import {
  type CounterName,
  type GaugeValue,
  type HistogramName,
  METRICS,
  type MetricName,
} from './metric-definitions.ts'

interface SeriesValue {
  labels: Record<string, string>
  value: number
  metricName?: string
}

export const { PROMETHEUS_CONTENT_TYPE } = AggregatorRegistry

/** `sums`: fields as meters.ts writes them; those of metrics that this version does not know are left out. */
export function formatExposition(sums: [field: string, sum: number][], gauges: GaugeValue[]): Promise<string> {
  const values = new Map<MetricName, SeriesValue[]>()
  const put = (name: MetricName, value: SeriesValue) => {
    const some = values.get(name)
    if (some) some.push(value)
    else values.set(name, [value])
  }
  for (const [name, series] of groupByMetric(sums)) {
    const { labels, kind } = METRICS[name]
    const all = [...series].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const named = (text: string) => {
      const given = JSON.parse(text) as string[] // written by seriesOf
      return Object.fromEntries(labels.map((label, k) => [label, given[k] ?? '']))
    }
    values.set(
      name,
      all.flatMap(([text, parts]) =>
        kind === 'counter'
          ? [{ labels: named(text), value: parts.get('') ?? 0 }]
          : buildHistogramValues(name, named(text), parts),
      ),
    )
  }
  for (const { name, labels, value } of gauges) put(name, { labels, value })
  const metrics = Object.entries(METRICS).map(([name, { kind, help }]) => ({
    name,
    help,
    type: kind,
    aggregator: 'first',
    values: values.get(name as MetricName) ?? [], // a key of METRICS
  }))
  return AggregatorRegistry.aggregate([metrics]).metrics()
}

type SumsByLabels = Map<string, Map<string, number>>

/** By metric, then by its label values as JSON: the sum of a counter under '', of a histogram by bucket. */
function groupByMetric(sums: [string, number][]): Map<CounterName | HistogramName, SumsByLabels> {
  const all = new Map<CounterName | HistogramName, SumsByLabels>()
  for (const [field, sum] of sums) {
    const [name, ...rest] = JSON.parse(field) as [CounterName | HistogramName, ...string[]] // as meters.ts writes
    if (!Object.hasOwn(METRICS, name)) continue
    const count = METRICS[name].labels.length
    const key = JSON.stringify(rest.slice(0, count))
    const series = all.get(name) ?? new Map<string, Map<string, number>>()
    all.set(name, series)
    series.set(key, (series.get(key) ?? new Map<string, number>()).set(rest[count] ?? '', sum))
  }
  return all
}

/** Buckets are kept each by itself, and told as Prometheus wants them: each with all below it. */
function buildHistogramValues(
  name: MetricName,
  labels: Record<string, string>,
  parts: Map<string, number>,
): SeriesValue[] {
  const row = METRICS[name]
  const bounds = 'buckets' in row ? row.buckets.map(String) : []
  let below = 0
  const buckets = [...bounds, '+Inf'].map((le) => {
    below += parts.get(le) ?? 0
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: parts.get('sum') ?? 0 },
    { metricName: `${name}_count`, labels, value: below },
  ]
}
