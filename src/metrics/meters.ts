/** What a process counts. Fields of the shared sums are `[metric, label values…]`, a bucket's end last, as JSON. */
import type { GroupResult } from '../scoring/group.ts'
import type { Sums } from '../store/sums.ts'
import type { Item } from '../words/item.ts'
import type { Verdict } from '../words/verdict.ts'
import { type CounterName, type HistogramName, type LabelsOf, METRICS } from './catalogue.ts'

export class Meters {
  readonly #sums: Pick<Sums, 'add'>

  constructor(sums: Pick<Sums, 'add'>) {
    this.#sums = sums
  }

  answered(method: string, route: string, status: number, seconds: number): void {
    this.count('rgs_http_requests_total', { method, route, status: String(status) })
    this.observe('rgs_http_request_duration_seconds', { method, route }, seconds)
  }

  /** Items made in one go; each is taken to have cost the mean. */
  made(task: string, items: number, ms: number): void {
    if (items === 0) return
    this.count('rgs_items_made_total', { task }, items)
    this.observe('rgs_item_make_seconds', { task }, ms / 1000 / items, items)
  }

  handedOut(items: Pick<Item, 'task'>[]): void {
    for (const { task } of items) this.count('rgs_items_handed_out_total', { task })
  }

  /** A group that a worker has done; told once for each group. */
  group(task: string, { status, destination, verdicts }: GroupResult): void {
    this.count('rgs_groups_total', { status, destination: destination ?? '' })
    this.count('rgs_rollouts_total', {}, verdicts.length)
    this.verdicts(task, verdicts)
  }

  verdicts(task: string, verdicts: Verdict[]): void {
    for (const [why, some] of Map.groupBy(verdicts, whyOf)) {
      const [status = '', fault = '', code = ''] = why.split(' ')
      this.count('rgs_verdicts_total', { task, status, fault, code }, some.length)
    }
    const rewards = verdicts.map(({ reward }) => reward).filter((reward) => reward !== null)
    for (const [reward, some] of Map.groupBy(rewards, (one) => one)) this.observe('rgs_reward', {}, reward, some.length)
  }

  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, amount = 1): void {
    this.#sums.add(fieldOf(name, labels), amount)
  }

  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, value: number, times = 1): void {
    const end = METRICS[name].buckets.find((bound) => value <= bound)
    this.#sums.add(fieldOf(name, labels, String(end ?? '+Inf')), times)
    this.#sums.add(fieldOf(name, labels, 'sum'), value * times)
  }
}

function whyOf(verdict: Verdict): string {
  return verdict.status === 'scored' ? `scored ${verdict.fault ?? ''} ` : `unscored  ${verdict.code}`
}

function fieldOf(name: CounterName | HistogramName, labels: Record<string, string>, ...more: string[]): string {
  return JSON.stringify([name, ...METRICS[name].labels.map((label) => labels[label] ?? ''), ...more])
}
