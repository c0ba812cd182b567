/** Metrics of prom-client as OpenTelemetry's, under the same names. They are cumulative since the start of the process. */
import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api'
import { hrTime, millisToHrTime } from '@opentelemetry/core'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics'
import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client'

/** Metrics as prom-client gives them. */
export type MetricSnapshot = MetricObjectWithValues<MetricValueWithName<string>>[]
type Metric = MetricSnapshot[number]

const START_TIME = millisToHrTime(Math.round(performance.timeOrigin))

export function toMetricData(snapshot: MetricSnapshot): MetricData[] {
  const endTime = hrTime()
  return snapshot.filter(({ values }) => values.length > 0).map((metric) => toOneMetric(metric, endTime))
}

function toOneMetric({ name, help, type, values }: Metric, endTime: HrTime): MetricData {
  const base = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const toPoint = <T>(labels: Attributes, value: T): DataPoint<T> => ({
    startTime: START_TIME,
    endTime,
    attributes: labels,
    value,
  })
  const kind = String(type) // a number in prom-client's types, a word in its values
  if (kind === 'histogram') {
    const dataPoints = listHistograms(values).map(({ labels, histogram }) => toPoint(labels, histogram))
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints }
  }
  const dataPoints = values.map(({ labels, value }) => toPoint(labels, value))
  return kind === 'counter'
    ? { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...base, dataPointType: DataPointType.GAUGE, dataPoints }
}

interface LabeledHistogram {
  labels: Attributes
  histogram: Histogram & { sum: number }
}

/** prom-client lists the buckets of a series in ascending order, each with all values below its bound, then `+Inf`, sum and count. */
function listHistograms(values: Metric['values']): LabeledHistogram[] {
  const series = new Map<string, LabeledHistogram>()
  for (const {
    metricName = '',
    labels: { le, ...labels },
    value,
  } of values) {
    const key = JSON.stringify(labels)
    const known = series.get(key) ?? {
      labels,
      histogram: { buckets: { boundaries: [], counts: [] }, sum: 0, count: 0 },
    }
    series.set(key, known)
    const { histogram } = known
    if (metricName.endsWith('_sum')) histogram.sum = value
    else if (metricName.endsWith('_count')) histogram.count = value
    else {
      histogram.buckets.counts.push(value)
      if (le !== '+Inf') histogram.buckets.boundaries.push(Number(le))
    }
  }
  for (const { histogram } of series.values())
    histogram.buckets.counts = histogram.buckets.counts.map((count, k, all) => count - (all[k - 1] ?? 0))
  return [...series.values()]
}
