/** Repeats work: until there is a result, or until it succeeds. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Waits, and returns early without an error when the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal === undefined) return sleep(ms)
  try {
    await sleep(ms, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

interface PollOptions {
  everyMs: number
  timeoutMs: number
  /** Ends the polling early. */
  signal?: AbortSignal | undefined
}

/** Calls `read` until it returns a value, at least once. Undefined if it has returned none in time. */
export async function poll<T>(
  read: () => T | undefined | Promise<T | undefined>,
  { everyMs, timeoutMs, signal }: PollOptions,
): Promise<T | undefined> {
  for (const deadline = performance.now() + timeoutMs; ; await pause(everyMs, signal)) {
    const value = await read()
    if (value !== undefined || performance.now() >= deadline || signal?.aborted) return value
  }
}

interface RetryOptions {
  pauseMs: number
  /** If it is larger than `pauseMs`, the pause doubles with each failure up to this value. */
  maxPauseMs?: number
  /** Receives each error, and throws one to give up. `nextPauseMs` is the pause that would follow. */
  onError: (error: unknown, nextPauseMs: number) => void
  /** Ends a pause: the work then runs at once. */
  signal?: AbortSignal | undefined
}

/** Repeats the work until it succeeds. */
export async function retry<T>(
  work: () => Promise<T>,
  { pauseMs, maxPauseMs = pauseMs, onError, signal }: RetryOptions,
): Promise<T> {
  for (let nextPauseMs = pauseMs; ; nextPauseMs = Math.min(2 * nextPauseMs, maxPauseMs)) {
    try {
      return await work()
    } catch (error) {
      onError(error, nextPauseMs)
    }
    await pause(nextPauseMs, signal)
  }
}
