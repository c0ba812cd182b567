/** prom-client's metrics as the table of metric-definitions.ts defines them. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import {
  type CounterName,
  FLEET_GAUGES,
  type FleetGaugeValue,
  type GaugeName,
  type HistogramName,
  type LabelOf,
  PROCESS_METRICS,
} from './metric-definitions.ts'

export const { PROMETHEUS_CONTENT_TYPE } = Registry

const FLEET_HELP = '(fleet-wide: the same on every API target, aggregate with max)'

/** `collect` runs before each read of the registry. */
export function createCounter<Name extends CounterName>(
  registry: Registry,
  name: Name,
  collect?: (counter: Counter<LabelOf<Name>>) => void,
): Counter<LabelOf<Name>> {
  const counter: Counter<LabelOf<Name>> = new Counter({
    ...buildOptions<LabelOf<Name>>(registry, name),
    ...(collect && { collect: () => collect(counter) }),
  })
  return counter
}

/** `collect` runs before each read of the registry. */
export function createGauge<Name extends GaugeName>(
  registry: Registry,
  name: Name,
  collect: (gauge: Gauge<LabelOf<Name>>) => void | Promise<void>,
): Gauge<LabelOf<Name>> {
  const gauge: Gauge<LabelOf<Name>> = new Gauge({
    ...buildOptions<LabelOf<Name>>(registry, name),
    collect: () => collect(gauge),
  })
  return gauge
}

export function createHistogram<Name extends HistogramName>(registry: Registry, name: Name): Histogram<LabelOf<Name>> {
  const buckets = [...PROCESS_METRICS[name].buckets]
  return new Histogram({ ...buildOptions<LabelOf<Name>>(registry, name), buckets })
}

/** Prometheus text of all fleet gauges. */
export function formatFleetGauges(values: FleetGaugeValue[]): Promise<string> {
  const registry = new Registry()
  const gauges = new Map(
    Object.entries(FLEET_GAUGES).map(([name, { help, labels }]) => [
      name,
      new Gauge({ name, help: `${help} ${FLEET_HELP}`, labelNames: [...labels], registers: [registry] }),
    ]),
  )
  for (const { name, labels, value } of values) gauges.get(name)?.set(labels, value)
  return registry.metrics()
}

function buildOptions<Label extends string>(registry: Registry, name: keyof typeof PROCESS_METRICS) {
  const definition = PROCESS_METRICS[name]
  return {
    name,
    help: definition.help,
    labelNames: definition.labels as readonly string[] as Label[], // Label is the union of this row's labels
    registers: [registry],
    ...('aggregator' in definition && { aggregator: definition.aggregator }),
  }
}
