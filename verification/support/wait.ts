/** Waits for facts. */
import { setTimeout as sleep } from 'node:timers/promises'

interface WaitOptions {
  timeoutMs: number
  /** Between two looks. */
  pollMs?: number
}

/** Resolves when it holds; throws with `what` if it never does. */
export async function waitUntil(
  what: string,
  holds: () => Promise<boolean> | boolean,
  { timeoutMs, pollMs = 50 }: WaitOptions,
): Promise<void> {
  for (const end = Date.now() + timeoutMs; !(await holds()); await sleep(pollMs))
    if (Date.now() > end) throw new Error(`After ${timeoutMs / 1000} s, still not: ${what}`)
}
