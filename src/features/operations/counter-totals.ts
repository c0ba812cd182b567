/** The shared counters in a few numbers: what the overview shows rates of. */
import type { CounterName } from '../../platform/metrics/metric-definitions.ts'

export interface CounterTotals {
  requests: number
  items_handed_out: number
  items_made: number
  rollouts: number
  verdicts: number
  unscored: number
}

const TOTAL_BY_COUNTER: Partial<Record<CounterName, keyof CounterTotals>> = {
  rgs_http_requests_total: 'requests',
  rgs_items_handed_out_total: 'items_handed_out',
  rgs_items_made_total: 'items_made',
  rgs_rollouts_total: 'rollouts',
  rgs_verdicts_total: 'verdicts',
}

/** `sums`: fields as meters.ts writes them. */
export function computeCounterTotals(sums: [field: string, sum: number][]): CounterTotals {
  const totals: CounterTotals = {
    requests: 0,
    items_handed_out: 0,
    items_made: 0,
    rollouts: 0,
    verdicts: 0,
    unscored: 0,
  }
  for (const [field, sum] of sums) {
    const [name, , status] = JSON.parse(field) as [CounterName, ...string[]] // as meters.ts writes
    const key = TOTAL_BY_COUNTER[name]
    if (key) totals[key] += sum
    if (name === 'rgs_verdicts_total' && status === 'unscored') totals.unscored += sum
  }
  return totals
}
