/** Looks after dumps while a worker lives: registers files from earlier and flushes groups that have waited too long. */

import type { RunRepository } from '../../runs/repository.ts'
import type { Dumps } from '../dumps.ts'
import { registerUnknownDumpFiles } from '../register-unknown-files.ts'

const DUMP_SWEEP_INTERVAL_MS = 5_000
const SWEEPS_PER_RECOUNT = 12

export function startDumpSweeper(
  { dumps, runs }: { dumps: Dumps; runs: RunRepository },
  onError: (error: unknown) => void,
): { close(): Promise<void> } {
  const uuidOf = async (run: string) => (await runs.get(run))?.uuid
  let rounds = 0
  let busy = true
  const round = async () => {
    if (rounds % SWEEPS_PER_RECOUNT === 0) await dumps.repository.recountBytes()
    rounds += 1
    await dumps.folder.deleteLeftoverParts()
    await dumps.sweep(uuidOf)
  }
  const first = async () => {
    await registerUnknownDumpFiles(dumps.repository, dumps.folder)
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
  }, DUMP_SWEEP_INTERVAL_MS)
  return {
    async close() {
      clearInterval(timer)
      await inHand
    },
  }
}
