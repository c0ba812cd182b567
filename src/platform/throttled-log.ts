/** Logs a repeated error once, and then at intervals with the number of suppressed repeats. */

const REPEAT_INTERVAL_MS = 30_000
/** Messages may contain anything, so the oldest is dropped above this number. */
const MAX_TRACKED_MESSAGES = 100

export function throttledLog(
  log: (error: unknown, suppressed: number, place?: string) => void,
  everyMs = REPEAT_INTERVAL_MS,
): (error: unknown, place?: string) => void {
  const entries = new Map<string, { loggedAt: number; suppressed: number }>()
  return (error, place) => {
    const message = errorMessage(error)
    const previous = entries.get(message)
    if (previous && performance.now() - previous.loggedAt < everyMs) {
      previous.suppressed++
      return
    }
    entries.delete(message)
    entries.set(message, { loggedAt: performance.now(), suppressed: 0 })
    const [oldest] = entries.keys()
    if (entries.size > MAX_TRACKED_MESSAGES && oldest !== undefined) entries.delete(oldest)
    log(error, previous?.suppressed ?? 0, place)
  }
}

/** The message of an error. An AggregateError of failed attempts (IPv4 and IPv6) has a code and no message. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error && String(error.code)) || error.name
}
