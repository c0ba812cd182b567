/** Gives back the memory that a start needed: most of the young generation, compiled functions, and parsed files. */
import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const INTERVAL_MS = 5000
/** The share of an interval that an idle process is busy at most. */
const IDLE_UTILIZATION = 0.05

/**
 * V8 returns memory of an idle process to the system only some seconds after a full collection, and an idle server has none. One
 * frees a third of the memory of an API process and takes 0.1 s, so it waits until nothing goes on. After it, V8 lets the old
 * generation grow by only 8 MB before it collects it again, unless `--initial-old-space-size` says more (`child-processes.ts`).
 */
export function releaseStartupMemory(): void {
  let last = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    if (utilization > IDLE_UTILIZATION) return
    clearInterval(timer)
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void // new contexts have what the flag exposes
    collect()
  }, INTERVAL_MS).unref()
}
