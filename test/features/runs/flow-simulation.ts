/** A queue of generators, scorers and a trainer with known rates, which counts what the scripts of a run count. */
import { resolveSettings } from '@reasoning-gym-server/contract/run-settings'
import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import { computeFlow, FLOW_COUNTERS } from '../../../src/features/runs/flow.ts'

/** Times in seconds. Each is drawn around its mean: the lower `spread`, the closer. */
export interface QueueParams {
  seed: number
  generators: number
  generation: number
  spread: number
  scorers: number
  scoring: number
  /** Probability that a group has signal. */
  signal: number
  batchGroups: number
  training: number
  maxAhead: number | null
}

/** Batches of which a run tells its flow. */
const MEASURED_BATCHES = 64

interface SimulatedGroup {
  version: number
  hasSignal: boolean
}

type Counters = Record<(typeof FLOW_COUNTERS)[number], number>

/** Runs the queue until it is steady, and returns what the run then says of its flow, and the true mean lag. */
export function simulateFlow(params: QueueParams) {
  const queue = runQueue(params, MEASURED_BATCHES)
  const [first, last] = [queue.samples.at(-1 - MEASURED_BATCHES), queue.samples.at(-1)]
  if (!first || !last) throw new Error('there are more batches')
  const settings = resolveSettings({ max_groups_ahead: params.maxAhead })
  const counters = { ...last, format_faults: {}, last_accepted_at: last.at }
  const lags = queue.lags.slice(-MEASURED_BATCHES).flat()
  return {
    flow: computeFlow(first, { counters, settings } as unknown as Parameters<typeof computeFlow>[1], last.at),
    lag: lags.reduce((sum, lag) => sum + lag, 0) / lags.length,
  }
}

/** Returns the rate of batches of a steady queue. */
export function simulateRate(params: QueueParams, batches: number): number {
  const { samples } = runQueue(params, batches)
  return batches / ((samples.at(-1)?.at ?? 0) - (samples.at(-1 - batches)?.at ?? 0))
}

/** A queue with a limit is steady once what may be ahead has been through it a few times. */
function runQueue(params: QueueParams, batches: number): Queue {
  const queue = new Queue(params)
  const { maxAhead, batchGroups } = params
  const warmUp = 8 + (maxAhead === null ? 0 : 3 * Math.ceil(maxAhead / batchGroups))
  while (queue.samples.length <= warmUp + batches) queue.advance()
  return queue
}

class Queue {
  readonly samples: ({ at: number; items_held_since: number } & Counters)[] = []
  readonly lags: number[][] = []
  readonly #params: QueueParams
  readonly #random: () => number
  readonly #events: { at: number; run: () => void }[] = []
  readonly #counters = Object.fromEntries(FLOW_COUNTERS.map((name) => [name, 0])) as Counters
  #now = 0
  #version = 0
  #leased = 0
  #idleGenerators: number
  #busyScorers = 0
  #queued: SimulatedGroup[] = []
  #buffer: SimulatedGroup[] = []
  #openGroups = 0
  #requestedAt: number | undefined
  #heldSince = 0

  constructor(params: QueueParams) {
    this.#params = params
    this.#random = seededRandom(params.seed)
    this.#idleGenerators = params.generators
    this.#takeItems()
    this.#requestBatch()
  }

  advance(): void {
    const event = this.#events.shift()
    if (!event) throw new Error('a queue never ends')
    this.#now = event.at
    event.run()
  }

  get #ahead(): number {
    return this.#leased + this.#queued.length + this.#busyScorers + this.#buffer.length + this.#openGroups
  }

  #takeItems(): void {
    const { maxAhead, generation } = this.#params
    while (this.#idleGenerators > 0) {
      if (maxAhead !== null && this.#ahead >= maxAhead) {
        this.#heldSince ||= this.#now
        return
      }
      if (this.#heldSince > 0) this.#counters.items_held_ms += this.#now - this.#heldSince
      this.#heldSince = 0
      this.#idleGenerators--
      this.#leased++
      this.#counters.items++
      const group = { version: this.#version, hasSignal: this.#random() < this.#params.signal }
      this.#after(generation, () => {
        this.#leased--
        this.#counters.groups++
        this.#queued.push(group)
        this.#score()
        this.#idleGenerators++
        this.#takeItems()
      })
    }
  }

  #score(): void {
    if (this.#busyScorers >= this.#params.scorers) return
    const group = this.#queued.shift()
    if (!group) return
    this.#busyScorers++
    this.#after(this.#params.scoring, () => {
      this.#busyScorers--
      this.#counters.completed++
      if (group.hasSignal) this.#buffer.push(group)
      this.#composeBatch()
      this.#score()
      this.#takeItems()
    })
  }

  #requestBatch(): void {
    this.#requestedAt = this.#now
    this.#counters.requested_steps++
    this.#counters.leased_at_requests += this.#leased
    this.#counters.queued_at_requests += this.#queued.length + this.#busyScorers
    this.#counters.buffered_at_requests += this.#buffer.length
    this.#composeBatch()
  }

  #composeBatch(): void {
    const { batchGroups, training } = this.#params
    if (this.#requestedAt === undefined || this.#buffer.length < batchGroups) return
    const lags = this.#buffer.splice(0, batchGroups).map(({ version }) => this.#version - version)
    this.#openGroups = batchGroups
    this.#counters.batches++
    this.#counters.batched_groups += batchGroups
    this.#counters.lagged_groups += batchGroups
    this.#counters.lag_sum += lags.reduce((sum, lag) => sum + lag, 0)
    this.#counters.trainer_waited_ms += this.#now - this.#requestedAt
    this.#requestedAt = undefined
    this.lags.push(lags)
    this.samples.push({ at: this.#now, items_held_since: this.#heldSince, ...this.#counters })
    this.#after(training, () => {
      this.#version++
      this.#openGroups = 0
      this.#requestBatch()
      this.#takeItems()
    })
  }

  /** Runs later, after a time between `1 - spread` and `1 + 3 × spread` of the mean, mostly below it. */
  #after(seconds: number, run: () => void): void {
    const { spread } = this.#params
    const at = this.#now + seconds * 1000 * (1 - spread + spread * -Math.log(1 - this.#random()))
    const place = this.#events.findLastIndex((event) => event.at <= at) + 1
    this.#events.splice(place, 0, { at, run })
  }
}
