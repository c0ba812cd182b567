/** Records the metrics of this process with prom-client. */

import type { AdapterName } from '@reasoning-gym-server/contract/adapter'
import type { Item } from '@reasoning-gym-server/contract/item'
import type { Group } from '@reasoning-gym-server/contract/rollout'
import type { FormatFault, UnscoredCode, Verdict } from '@reasoning-gym-server/contract/verdict'
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { ProcessIdentity } from '../process-state.ts'
import { createCounter, createHistogram } from './metric-definitions.ts'

type CompletedGroup = Pick<Group, 'status' | 'destination'> & { verdicts: Verdict[] }

export class MetricsRecorder {
  readonly registry = new Registry()
  readonly httpRequests = createCounter(this.registry, 'rgs_http_requests_total')
  readonly slowClients = createCounter(this.registry, 'rgs_http_slow_clients_total')
  readonly itemsServed = createCounter(this.registry, 'rgs_items_handed_out_total')
  readonly itemsMade = createCounter(this.registry, 'rgs_items_made_total')
  readonly rollouts = createCounter(this.registry, 'rgs_rollouts_total')
  readonly verdicts = createCounter(this.registry, 'rgs_verdicts_total')
  readonly #httpDurations = createHistogram(this.registry, 'rgs_http_request_duration_seconds')
  readonly #itemDurations = createHistogram(this.registry, 'rgs_item_make_seconds')
  readonly #rewards = createHistogram(this.registry, 'rgs_reward')
  readonly #groups = createCounter(this.registry, 'rgs_groups_total')
  /** Not yet added to the counter, because prom-client takes microseconds to find a series. */
  readonly #scoredSamples = new Map<AdapterName, number>()
  readonly #samples = createCounter(this.registry, 'rgs_adapter_samples_total', (counter) => {
    for (const [adapter, count] of this.#scoredSamples) counter.inc({ adapter, status: 'scored' }, count)
    this.#scoredSamples.clear()
  })
  readonly #gatheredSamples = createCounter(this.registry, 'rgs_open_group_samples_total')
  readonly #openGroups = createCounter(this.registry, 'rgs_open_groups_total')
  readonly #unscoredSamples = createCounter(this.registry, 'rgs_unscored_total')
  readonly #jobs = createCounter(this.registry, 'rgs_jobs_total')
  readonly #redisPings = createHistogram(this.registry, 'rgs_redis_ping_seconds')

  /** `identity` labels the default metrics: one `npm start` runs several processes. */
  constructor(identity: ProcessIdentity) {
    for (const metric of getDefaultMetrics(identity)) this.registry.registerMetric(metric)
  }

  recordResponse(method: string, route: string, status: number, seconds: number): void {
    this.httpRequests.inc({ method, route, status })
    this.#httpDurations.observe({ method, route }, seconds)
  }

  /** Items that were generated together; each counts with the mean time. */
  recordMadeItems(task: string, items: number, ms: number): void {
    if (items === 0) return
    this.itemsMade.inc({ task }, items)
    for (let k = 0; k < items; k++) this.#itemDurations.observe({ task }, ms / 1000 / items)
  }

  recordServedItems(items: Pick<Item, 'task'>[]): void {
    for (const { task } of items) this.itemsServed.inc({ task })
  }

  recordGroup(task: string, { status, destination, verdicts }: CompletedGroup): void {
    this.#groups.inc({ status, destination: destination ?? '' })
    this.rollouts.inc(verdicts.length)
    this.recordVerdicts(task, verdicts)
  }

  /** Equal verdicts are counted first and recorded together. */
  recordVerdicts(task: string, verdicts: Verdict[]): void {
    const scored = new Map<FormatFault | '', number>()
    const unscored = new Map<UnscoredCode, number>()
    for (const verdict of verdicts) {
      if (verdict.status === 'unscored') {
        unscored.set(verdict.code, (unscored.get(verdict.code) ?? 0) + 1)
        continue
      }
      const formatFault = verdict.fault ?? ''
      scored.set(formatFault, (scored.get(formatFault) ?? 0) + 1)
      this.#rewards.observe(verdict.reward)
    }
    for (const [format_fault, count] of scored)
      this.verdicts.inc({ task, status: 'scored', format_fault, code: '' }, count)
    for (const [code, count] of unscored) this.verdicts.inc({ task, status: 'unscored', format_fault: '', code }, count)
  }

  /** Completions that came through an adapter. */
  recordSamples(adapter: AdapterName, verdicts: { status: 'scored' | 'unscored'; code?: string }[]): void {
    let scored = 0
    for (const { status, code = '' } of verdicts) {
      if (status === 'scored') scored++
      else this.#unscoredSamples.inc({ adapter, code })
    }
    if (scored > 0) this.#scoredSamples.set(adapter, (this.#scoredSamples.get(adapter) ?? 0) + scored)
    if (scored < verdicts.length) this.#samples.inc({ adapter, status: 'unscored' }, verdicts.length - scored)
  }

  /** Samples that were noted for open groups. */
  recordGatheredSamples(outcomes: ('gathered' | 'duplicate' | 'limit')[]): void {
    for (const outcome of outcomes) this.#gatheredSamples.inc({ outcome })
  }

  /** An open group that has ended. */
  recordOpenGroup(outcome: 'submitted' | 'without_buffer' | 'discarded'): void {
    this.#openGroups.inc({ outcome })
  }

  recordJobAttempt(queue: string, outcome: 'completed' | 'retried' | 'failed', count = 1): void {
    this.#jobs.inc({ queue, outcome }, count)
  }

  recordRedisPing(seconds: number): void {
    this.#redisPings.observe(seconds)
  }
}

/** Keyed by process and role. */
const defaultMetrics = new Map<string, Metric[]>()

/** Created once: they sample the event loop and observe the garbage collector until the process ends. */
function getDefaultMetrics(identity: ProcessIdentity): Metric[] {
  const key = `${identity.process} ${identity.role}`
  const known = defaultMetrics.get(key)
  if (known) return known
  const register = new Registry()
  collectDefaultMetrics({ register, labels: identity })
  const metrics = register.getMetricsAsArray().flatMap(({ name }) => register.getSingleMetric(name) ?? [])
  defaultMetrics.set(key, metrics)
  return metrics
}
