/** What a process counts. Fields of the shared sums are `[metric, label values…]`, a bucket's end last, as JSON. */

import type { Item } from '../../contract/item.ts'
import type { Group } from '../../contract/rollout.ts'
import type { Verdict } from '../../contract/verdict.ts'
import { type CounterName, type HistogramName, METRICS, type MetricLabels } from './metric-definitions.ts'
import type { SharedCounter, SharedCounters } from './shared-counters.ts'

interface CompletedGroup extends Pick<Group, 'status' | 'destination'> {
  verdicts: Verdict[]
}

export class MetricsRecorder {
  readonly #sums: Pick<SharedCounters, 'getOrCreate'>
  readonly #tallyTree = new TallyNode()

  constructor(sums: Pick<SharedCounters, 'getOrCreate'>) {
    this.#sums = sums
  }

  recordResponse(method: string, route: string, status: number, seconds: number): void {
    this.increment('rgs_http_requests_total', { method, route, status: String(status) })
    this.observe('rgs_http_request_duration_seconds', { method, route }, seconds)
  }

  /** Items made in one go; each is taken to have cost the mean. */
  recordMadeItems(task: string, items: number, ms: number): void {
    if (items === 0) return
    this.increment('rgs_items_made_total', { task }, items)
    this.observe('rgs_item_make_seconds', { task }, ms / 1000 / items, items)
  }

  recordServedItems(items: Pick<Item, 'task'>[]): void {
    for (const { task } of items) this.increment('rgs_items_handed_out_total', { task })
  }

  /** A group that a worker has done; told once for each group. */
  recordGroup(task: string, { status, destination, verdicts }: CompletedGroup): void {
    this.increment('rgs_groups_total', { status, destination: destination ?? '' })
    this.increment('rgs_rollouts_total', {}, verdicts.length)
    this.recordVerdicts(task, verdicts)
  }

  recordVerdicts(task: string, verdicts: Verdict[]): void {
    // Nearly all are without fault, and right or wrong: those are counted together.
    let [plain, right, wrong] = [0, 0, 0]
    for (const verdict of verdicts) {
      const { status, reward } = verdict
      if (status === 'scored' && verdict.fault === null) plain++
      else if (status === 'scored')
        this.increment('rgs_verdicts_total', { task, status, fault: verdict.fault ?? '', code: '' })
      else this.increment('rgs_verdicts_total', { task, status, fault: '', code: verdict.code })
      if (reward === 1) right++
      else if (reward === 0) wrong++
      else if (reward !== null) this.observe('rgs_reward', {}, reward)
    }
    if (plain > 0) this.increment('rgs_verdicts_total', { task, status: 'scored', fault: '', code: '' }, plain)
    if (right > 0) this.observe('rgs_reward', {}, 1, right)
    if (wrong > 0) this.observe('rgs_reward', {}, 0, wrong)
  }

  increment<Name extends CounterName>(name: Name, labels: MetricLabels<Name>, amount = 1): void {
    this.#getOrCreateTally(name, labels).add(amount)
  }

  observe<Name extends HistogramName>(name: Name, labels: MetricLabels<Name>, value: number, times = 1): void {
    const end = METRICS[name].buckets.find((bound) => value <= bound)
    this.#getOrCreateTally(name, labels, String(end ?? '+Inf')).add(times)
    this.#getOrCreateTally(name, labels, 'sum').add(value * times)
  }

  /** Fields are few and asked for many times a request: each is spelt once, and found by its labels in turn. */
  #getOrCreateTally(name: CounterName | HistogramName, labels: Record<string, string>, end?: string): SharedCounter {
    const names: readonly string[] = METRICS[name].labels
    let at = this.#tallyTree.getOrCreateChild(name)
    for (const label of names) at = at.getOrCreateChild(labels[label] ?? '')
    if (end !== undefined) at = at.getOrCreateChild(end)
    at.tally ??= this.#sums.getOrCreate(
      JSON.stringify([name, ...names.map((label) => labels[label] ?? ''), ...(end === undefined ? [] : [end])]),
    )
    return at.tally
  }
}

class TallyNode {
  tally: SharedCounter | undefined
  readonly #children = new Map<string, TallyNode>()

  getOrCreateChild(value: string): TallyNode {
    let found = this.#children.get(value)
    if (!found) {
      found = new TallyNode()
      this.#children.set(value, found)
    }
    return found
  }
}
