/** Looks after dumps while a worker lives: finds files of old, flushes what is quiet, and writes the rest at the end. */
import { adoptFiles } from '../dumps/adopt.ts'
import type { Dumps } from '../dumps/dumps.ts'
import type { Runs } from '../store/runs.ts'

const EVERY_MS = 5_000
const RECOUNT_EVERY = 12
/** Part of the time that a process has to end in. */
const LAST_WRITES_MS = 8_000

export function startDumpSweeper(
  { dumps, runs }: { dumps: Dumps; runs: Runs },
  onError: (error: unknown) => void,
): { close(): Promise<void> } {
  const uuidOf = async (run: string) => (await runs.find(run))?.uuid
  let rounds = 0
  let busy = true
  const round = async () => {
    if (rounds % RECOUNT_EVERY === 0) await dumps.book.recountBytes()
    rounds += 1
    await dumps.folder.tidy()
    await dumps.sweep(uuidOf)
  }
  const first = async () => {
    await adoptFiles(dumps.book, dumps.folder)
    await round()
  }
  const work = (deed: () => Promise<void>) =>
    deed()
      .catch(onError)
      .finally(() => {
        busy = false
      })
  let inHand = work(first)
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    inHand = work(round)
  }, EVERY_MS)
  return {
    async close() {
      clearInterval(timer)
      await inHand
      await dumps.writeAll(AbortSignal.timeout(LAST_WRITES_MS)).catch(onError)
    },
  }
}
