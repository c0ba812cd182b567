/** The counters of the overview, summed over all processes in Redis. */

import type { Totals } from '@reasoning-gym-server/contract/overview'
import type { Redis } from 'ioredis'
import type { Counter } from 'prom-client'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import { SharedCounters } from '../../platform/metrics/shared-counters.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'

const PUBLISH_INTERVAL_MS = 1000

const NAMES = ['requests', 'items_handed_out', 'items_made', 'rollouts', 'verdicts', 'unscored'] as const

/**
 * Sums the counters of all processes. Once a second, each process adds the growth of its own, so the totals are
 * eventually correct.
 */
export class FleetTotals {
  readonly #recorder: MetricsRecorder
  readonly #sharedCounters: SharedCounters
  readonly #timer: NodeJS.Timeout
  #published: Totals = { requests: 0, items_handed_out: 0, items_made: 0, rollouts: 0, verdicts: 0, unscored: 0 }

  constructor(redis: Redis, keys: RedisKeys, recorder: MetricsRecorder) {
    this.#recorder = recorder
    this.#sharedCounters = new SharedCounters(redis, keys.key('fleet-totals'))
    this.#timer = setInterval(() => void this.#publish(), PUBLISH_INTERVAL_MS)
  }

  async read(): Promise<Totals> {
    await this.#publish()
    await this.#sharedCounters.flush()
    const sums = await this.#sharedCounters.readFields([...NAMES])
    const [requests = 0, items_handed_out = 0, items_made = 0, rollouts = 0, verdicts = 0, unscored = 0] = sums
    return { requests, items_handed_out, items_made, rollouts, verdicts, unscored }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#publish()
    await this.#sharedCounters.close()
  }

  async #publish(): Promise<void> {
    const totals = await this.#measure()
    for (const name of NAMES) this.#sharedCounters.getOrCreate(name).add(totals[name] - this.#published[name])
    this.#published = totals
  }

  /** Returns what this process has counted since it started. */
  async #measure(): Promise<Totals> {
    const { httpRequests, itemsServed, itemsMade, rollouts, verdicts } = this.#recorder
    const [requests, items_handed_out, items_made, rolloutCount, verdictCount, unscored] = await Promise.all([
      sum(httpRequests),
      sum(itemsServed),
      sum(itemsMade),
      sum(rollouts),
      sum(verdicts),
      sum(verdicts, ({ status }) => status === 'unscored'),
    ])
    return { requests, items_handed_out, items_made, rollouts: rolloutCount, verdicts: verdictCount, unscored }
  }
}

async function sum<Label extends string>(
  counter: Counter<Label>,
  isIncluded: (labels: Partial<Record<Label, string | number>>) => boolean = () => true,
): Promise<number> {
  const { values } = await counter.get()
  return values.reduce((total, { labels, value }) => (isIncluded(labels) ? total + value : total), 0)
}
