/** Makes a run's items ahead of demand, until as many as it keeps open are there. May run any number of times. */
import type { ItemPrefetcher } from '../item-prefetcher.ts'
import type { Runs } from '../runs.ts'

/** Items of one run that one job has in hand at once. */
const MAX_ITEMS_IN_FLIGHT = 16
/** So many that could not be made, one after another, are no accident: who asks for items next has more of them tried. */
const MAX_CONSECUTIVE_FAILURES = 32

export function createPrefetchItemsProcessor({ runs, preparation }: { runs: Runs; preparation: ItemPrefetcher }) {
  return async ({ run: name, epoch }: { run: string; epoch: number }, { signal }: { signal: AbortSignal }) => {
    const inHand = new Set<Promise<void>>()
    let failed = 0
    while (!signal.aborted && failed < MAX_CONSECUTIVE_FAILURES) {
      const run = await runs.get(name)
      if (run?.epoch !== epoch) return
      for (const item of await preparation.start(run, MAX_ITEMS_IN_FLIGHT - inHand.size, run.counters.ahead ?? 0)) {
        const done = item.then((kept) => {
          inHand.delete(done)
          failed = kept ? 0 : failed + 1
        })
        inHand.add(done)
      }
      if (inHand.size === 0) return
      await Promise.race(inHand)
    }
    await Promise.all(inHand)
  }
}
