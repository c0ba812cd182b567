/** Waits for facts. */
import { setTimeout as sleep } from 'node:timers/promises'

interface WaitOptions {
  timeoutMs: number
  /** Between two looks. */
  pollMs?: number
}

/** Tells the milliseconds waited so far. A look counts five seconds at most, since a machine that stood still has not waited. */
export function startWaiting(): () => number {
  let waited = 0
  let last = performance.now()
  return () => {
    const now = performance.now()
    waited += Math.min(5000, now - last)
    last = now
    return waited
  }
}

/** Resolves when it holds; throws with `what` if it never does. */
export async function waitUntil(
  what: string,
  holds: () => Promise<boolean> | boolean,
  { timeoutMs, pollMs = 50 }: WaitOptions,
): Promise<void> {
  for (const waited = startWaiting(); !(await holds()); await sleep(pollMs))
    if (waited() > timeoutMs) throw new Error(`After ${timeoutMs / 1000} s, still not: ${what}`)
}
