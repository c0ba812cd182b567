/** Looks after dumps while a worker lives: finds files of old, flushes what is quiet, and writes the rest at the end. */

import type { RunRepository } from '../../runs/repository.ts'
import type { Dumps } from '../dumps.ts'
import { registerUnknownDumpFiles } from '../register-unknown-files.ts'

const DUMP_SWEEP_INTERVAL_MS = 5_000
const SWEEPS_PER_RECOUNT = 12
/** Part of the time that a process has to end in. */
const FINAL_WRITE_TIMEOUT_MS = 8_000

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
      await dumps.writeAllPending(AbortSignal.timeout(FINAL_WRITE_TIMEOUT_MS)).catch(onError)
    },
  }
}
