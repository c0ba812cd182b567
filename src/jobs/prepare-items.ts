/** Makes a run's items ahead of demand, until as many as it keeps open are there. May run any number of times. */
import type { Preparation } from '../runs/preparation.ts'
import type { RunBook } from '../runs/run-book.ts'

/** Items of one run that one job has in hand at once. */
const IN_HAND = 16

export function prepareItems({ runs, preparation }: { runs: RunBook; preparation: Preparation }) {
  return async ({ run: name, epoch }: { run: string; epoch: number }, { signal }: { signal: AbortSignal }) => {
    const inHand = new Set<Promise<void>>()
    while (!signal.aborted) {
      const run = await runs.look(name)
      if (run?.epoch !== epoch) return
      for (const item of await preparation.begin(run, IN_HAND - inHand.size, run.counters.ahead ?? 0)) {
        const done = item.finally(() => inHand.delete(done))
        inHand.add(done)
      }
      if (inHand.size === 0) return
      await Promise.race(inHand)
    }
    await Promise.all(inHand)
  }
}
