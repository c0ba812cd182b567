/** What a process counts. Fields of the shared sums are `[metric, label values…]`, a bucket's end last, as JSON. */
import type { GroupResult } from '../scoring/group.ts'
import type { Sums, Tally } from '../store/sums.ts'
import type { Item } from '../words/item.ts'
import type { Verdict } from '../words/verdict.ts'
import { type CounterName, type HistogramName, type LabelsOf, METRICS } from './catalogue.ts'

export class Meters {
  readonly #sums: Pick<Sums, 'tally'>
  readonly #root = new Branch()

  constructor(sums: Pick<Sums, 'tally'>) {
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
    // Nearly all are without fault, and right or wrong: those are counted together.
    let [plain, right, wrong] = [0, 0, 0]
    for (const verdict of verdicts) {
      const { status, reward } = verdict
      if (status === 'scored' && verdict.fault === null) plain++
      else if (status === 'scored')
        this.count('rgs_verdicts_total', { task, status, fault: verdict.fault ?? '', code: '' })
      else this.count('rgs_verdicts_total', { task, status, fault: '', code: verdict.code })
      if (reward === 1) right++
      else if (reward === 0) wrong++
      else if (reward !== null) this.observe('rgs_reward', {}, reward)
    }
    if (plain > 0) this.count('rgs_verdicts_total', { task, status: 'scored', fault: '', code: '' }, plain)
    if (right > 0) this.observe('rgs_reward', {}, 1, right)
    if (wrong > 0) this.observe('rgs_reward', {}, 0, wrong)
  }

  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, amount = 1): void {
    this.#tally(name, labels).add(amount)
  }

  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, value: number, times = 1): void {
    const end = METRICS[name].buckets.find((bound) => value <= bound)
    this.#tally(name, labels, String(end ?? '+Inf')).add(times)
    this.#tally(name, labels, 'sum').add(value * times)
  }

  /** Fields are few and asked for many times a request: each is spelt once, and found by its labels in turn. */
  #tally(name: CounterName | HistogramName, labels: Record<string, string>, end?: string): Tally {
    const names: readonly string[] = METRICS[name].labels
    let at = this.#root.next(name)
    for (const label of names) at = at.next(labels[label] ?? '')
    if (end !== undefined) at = at.next(end)
    at.tally ??= this.#sums.tally(
      JSON.stringify([name, ...names.map((label) => labels[label] ?? ''), ...(end === undefined ? [] : [end])]),
    )
    return at.tally
  }
}

class Branch {
  tally: Tally | undefined
  readonly #next = new Map<string, Branch>()

  next(value: string): Branch {
    let found = this.#next.get(value)
    if (!found) {
      found = new Branch()
      this.#next.set(value, found)
    }
    return found
  }
}
