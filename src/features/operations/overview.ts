/** What the metrics say of the server at a moment, as JSON for people's eyes. */

import type { Overview } from '../../contract/overview.ts'
import type { GaugeValue } from '../../platform/metrics/metric-definitions.ts'
import type { QueueBacklog } from '../../platform/queue/backlog.ts'

export function buildQueueOverview(backlog: QueueBacklog[], now: number): Overview['queues'] {
  return backlog.map(({ queue, jobs, oldestAt }) => ({
    queue,
    ...jobs,
    oldest_s: oldestAt === undefined ? 0 : Math.max(0, (now - oldestAt) / 1000),
  }))
}

/** One row for each process, API processes first. */
export function buildProcessOverview(samples: GaugeValue[]): Overview['processes'] {
  const byProcess = Map.groupBy(samples, ({ labels }) => labels.process ?? '')
  return [...byProcess]
    .map(([process, own]) => {
      const value = (name: GaugeValue['name'], labels: Record<string, string> = {}) =>
        own.find((sample) => sample.name === name && Object.entries(labels).every(([k, v]) => sample.labels[k] === v))
          ?.value ?? 0
      const hosts = own.filter(({ name }) => name === 'rgs_engine_hosts')
      return {
        process,
        role: own[0]?.labels.role ?? '',
        engine_up: value('rgs_engine_up') === 1,
        hosts: Object.fromEntries(hosts.map((sample) => [sample.labels.kind ?? '', sample.value])),
        resident_bytes: value('rgs_process_resident_bytes'),
        event_loop_p99_s: value('rgs_event_loop_delay_seconds', { quantile: '0.99' }),
      }
    })
    .toSorted((a, b) => a.role.localeCompare(b.role) || a.process.localeCompare(b.process))
}
