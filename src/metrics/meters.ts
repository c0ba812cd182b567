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
    const [why, rewards] = [new Map<string, number>(), new Map<number, number>()]
    for (const verdict of verdicts) {
      more(why, whyOf(verdict))
      if (verdict.reward !== null) more(rewards, verdict.reward)
    }
    for (const [one, times] of why) {
      const [status = '', fault = '', code = ''] = one.split(' ')
      this.count('rgs_verdicts_total', { task, status, fault, code }, times)
    }
    for (const [reward, times] of rewards) this.observe('rgs_reward', {}, reward, times)
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

function more<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** Fields are few and asked for many times a request: each is spelt once, and found by its labels in turn. */
class Spelt {
  field: string | undefined
  readonly #next = new Map<string, Spelt>()

  next(value: string): Spelt {
    let found = this.#next.get(value)
    if (!found) {
      found = new Spelt()
      if (speltSoFar++ < SPELT_MAX) this.#next.set(value, found)
    }
    return found
  }
}

const SPELT_MAX = 50_000
let speltSoFar = 0
const ROOT = new Spelt()

function fieldOf(name: CounterName | HistogramName, labels: Record<string, string>, end?: string): string {
  const names: readonly string[] = METRICS[name].labels
  let at = ROOT.next(name)
  for (const label of names) at = at.next(labels[label] ?? '')
  if (end !== undefined) at = at.next(end)
  at.field ??= JSON.stringify([name, ...names.map((label) => labels[label] ?? ''), ...(end === undefined ? [] : [end])])
  return at.field
}
