/**
 * Makes a run's items ahead of demand, up to the number of positions that the run keeps open. Running it twice is
 * harmless.
 */

import type { JobAttempt } from '../../../platform/queue/job-definition.ts'
import type { PrefetchItemsJobData } from '../jobs.ts'
import type { Runs } from '../runs.ts'
import type { ItemPrefetcher } from '../sequence/item-prefetcher.ts'

/** Number of items that one job makes concurrently for one run. */
const MAX_ITEMS_IN_FLIGHT = 20
/** Number of positions per claim. Each claim scans all open positions. */
const CLAIM_SIZE = 4
/** Number of consecutive failures after which the job gives up. The next request for items schedules another job. */
const MAX_CONSECUTIVE_FAILURES = 32

export function createPrefetchItemsProcessor({ runs, prefetcher }: { runs: Runs; prefetcher: ItemPrefetcher }) {
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
