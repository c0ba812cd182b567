/** The jobs of runs. */
import { z } from 'zod'
import type { JobAttempt, JobDefinition } from '../../platform/queue/job-definition.ts'
import type { Producer } from '../../platform/queue/queues.ts'
import type { Schedule } from '../../platform/queue/schedules.ts'
import type { ItemPrefetcher } from './sequence/item-prefetcher.ts'
import type { ResolvedRun } from './types.ts'

const PrefetchItemsJobData = z.strictObject({ run: z.string(), epoch: z.int() })
type PrefetchItemsJobData = z.infer<typeof PrefetchItemsJobData>

/** Makes a run's items ahead of demand. The next request for items adds the job again. */
export const prefetchItemsJob: JobDefinition<PrefetchItemsJobData> = {
  name: 'prefetch-items',
  data: PrefetchItemsJobData,
  attempts: 1,
  backoffMs: 500,
  discardFailures: true,
}

/**
 * Removes the keys of a deleted run, or those of its epoch before a restore. The sweep adds the job again until the
 * keys are gone.
 */
export const removeEpochJob: JobDefinition<{ name: string; epoch: number }> = {
  name: 'remove-epoch',
  data: z.strictObject({ name: z.string(), epoch: z.int() }),
  attempts: 6,
  backoffMs: 500,
  discardFailures: true,
  lockMs: 5_000,
}

/** Adds lost jobs of ended epochs again. */
export const sweepEpochsSchedule: Schedule = { name: 'sweep-epochs', everyMs: 10_000 }

/** Adds runs to the index that it has lost. */
export const repairRunIndexSchedule: Schedule = { name: 'repair-run-index', everyMs: 10 * 60 * 1000 }

/** Marks the warnings of runs in use. */
export const sweepWarningsSchedule: Schedule = { name: 'sweep-warnings', everyMs: 15_000 }

/** Number of items that one job makes concurrently for one run. */
const MAX_ITEMS_IN_FLIGHT = 20
/** Number of positions per claim. Each claim scans all open positions. */
const CLAIM_SIZE = 4
/** Number of consecutive failures after which the job gives up. The next request for items schedules another job. */
const MAX_CONSECUTIVE_FAILURES = 32

/** Adds a job that makes items ahead. If that fails, items are made on demand. */
export async function schedulePrefetch(
  producer: Producer,
  { name, epoch }: Pick<ResolvedRun, 'name' | 'epoch'>,
): Promise<void> {
  const job = { id: `${name}/${epoch}`, data: { run: name, epoch } }
  await producer.add(prefetchItemsJob, [job]).catch(() => {})
}

interface PrefetchDeps {
  runs: { get(name: string): Promise<ResolvedRun | undefined> }
  prefetcher: Pick<ItemPrefetcher, 'start'>
}

/**
 * Makes a run's items ahead of demand, up to the number of positions that the run keeps open. Running it twice is
 * harmless.
 */
export function createPrefetchItemsProcessor({ runs, prefetcher }: PrefetchDeps) {
  return async ({ run: name, epoch }: PrefetchItemsJobData, { signal }: Pick<JobAttempt, 'signal'>) => {
    const inFlight = new Set<Promise<void>>()
    let failures = 0
    while (!signal.aborted && failures < MAX_CONSECUTIVE_FAILURES) {
      const run = await runs.get(name)
      if (run?.epoch !== epoch) return
      const scope = { kind: 'open' as const, prefetchTarget: run.counters.prefetch_target ?? 0 }
      for (const item of await prefetcher.start(run, scope, MAX_ITEMS_IN_FLIGHT - inFlight.size)) {
        const done = item.then((stored) => {
          inFlight.delete(done)
          failures = stored ? 0 : failures + 1
        })
        inFlight.add(done)
      }
      if (inFlight.size === 0) return
      do await Promise.race(inFlight)
      while (inFlight.size > MAX_ITEMS_IN_FLIGHT - CLAIM_SIZE)
    }
    await Promise.all(inFlight)
  }
}
