/** Waits until a run has scored what was posted. */
import { setTimeout as sleep } from 'node:timers/promises'
import { callServer, type OurServer } from './servers.ts'

const STALL_TIMEOUT_MS = 120_000

/** Throws if groups fail, or nothing moves for two minutes. */
export async function waitUntilScored(server: OurServer, run: string, groups: number): Promise<Record<string, number>> {
  let [last, movedAt] = [-1, performance.now()]
  for (;;) {
    const { progress } = (await callServer(server, 'GET', `/runs/${run}`)) as { progress: Record<string, number> } // as documented
    const { scored_groups: scored = 0, failed_groups: failed = 0, queued_groups: queued = 0 } = progress
    if (failed > 0) throw new Error(`${failed} groups of ${run} failed`)
    if (queued === 0 && scored >= groups) return progress
    if (scored !== last) [last, movedAt] = [scored, performance.now()]
    if (performance.now() - movedAt > STALL_TIMEOUT_MS)
      throw new Error(`${run} stands still: ${JSON.stringify(progress)}`)
    await sleep(50)
  }
}
