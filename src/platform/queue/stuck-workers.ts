/**
 * Replaces the BullMQ workers of this process if they have stopped taking jobs.
 *
 * Symptom: after failovers of a Redis Cluster, the blocking connection of a BullMQ worker can stay without a node for good.
 * The worker reports no error, and its jobs wait forever (taskforcesh/bullmq#4138).
 * Gain: correctness, no speed: its jobs run after at most 20 s.
 * Measure: npm run verify -- topology --case cluster-crash --changes 50
 * Delete when: BullMQ recovers by itself.
 */
import type { Redis } from 'ioredis'
import { Queues } from './queues.ts'

const CHECK_INTERVAL_MS = 10_000

/** Which queues this process has taken jobs from. */
export class JobActivity {
  readonly #running = new Map<string, number>()
  /** Queues with a started job since the last `forget`. */
  readonly #active = new Set<string>()

  /** Runs a job of the queue. */
  async track<T>(queue: string, work: () => Promise<T>): Promise<T> {
    this.#active.add(queue)
    this.#running.set(queue, (this.#running.get(queue) ?? 0) + 1)
    try {
      return await work()
    } finally {
      this.#running.set(queue, (this.#running.get(queue) ?? 1) - 1)
    }
  }

  isIdle(queue: string): boolean {
    return !this.#active.has(queue) && (this.#running.get(queue) ?? 0) === 0
  }

  forget(): void {
    this.#active.clear()
  }
}

export interface JobWorkers {
  close(): Promise<void>
  /** Ends workers that may never reply. Does not wait and does not throw. */
  abandon(): void
}

interface WatchedWorkersOptions {
  /** Starts the workers of all queues on connections of their own. */
  start: (activity: JobActivity) => JobWorkers
  /** Names of the queues that they take jobs from. */
  queues: readonly string[]
  /** For the lengths of the queues: another connection than those of the workers. */
  redis: Redis
  prefix: string
  onReplaced: (queue: string) => void
  checkIntervalMs?: number
}

/**
 * A queue counts as stuck if jobs waited in it at two checks and none was taken here in between, unless no worker may take one: the
 * schedules run one at a time, and one of another worker may take longer.
 */
export function startWatchedWorkers({
  start,
  queues: names,
  redis,
  prefix,
  onReplaced,
  checkIntervalMs = CHECK_INTERVAL_MS,
}: WatchedWorkersOptions): { close(): Promise<void> } {
  const queues = new Queues(redis, prefix)
  const activity = new JobActivity()
  let workers = start(activity)
  let waitedBefore = new Set<string>()
  let isChecking = false
  const check = async () => {
    if (isChecking) return
    isChecking = true
    try {
      const waiting = await listWaiting(queues, names)
      const stuck = waiting.find((name) => waitedBefore.has(name) && activity.isIdle(name))
      waitedBefore = new Set(waiting)
      activity.forget()
      if (stuck === undefined || isClosed) return
      waitedBefore.clear()
      workers.abandon()
      workers = start(activity)
      onReplaced(stuck)
    } catch {
      waitedBefore.clear() // Redis is unavailable, which stops every worker
    } finally {
      isChecking = false
    }
  }
  let isClosed = false
  const timer = setInterval(() => void check(), checkIntervalMs)
  return {
    async close() {
      isClosed = true
      clearInterval(timer)
      await workers.close()
      await queues.close()
    },
  }
}

async function listWaiting(queues: Queues, names: readonly string[]): Promise<string[]> {
  const mayBeTaken = async (name: string) => {
    const queue = queues.getOrCreate(name)
    return (await queue.getWaitingCount()) > 0 && !(await queue.isMaxed())
  }
  const waiting = await Promise.all(names.map(mayBeTaken))
  return names.filter((_, k) => waiting[k])
}
