/** Errors that come again and again, as while Redis is away: each is told once, and then now and then with how many came. */

const REPEAT_INTERVAL_MS = 30_000
/** Messages may hold anything: of more the oldest is forgotten. */
const MAX_TRACKED_MESSAGES = 100

export function throttledLog(
  tell: (error: unknown, untold: number) => void,
  everyMs = REPEAT_INTERVAL_MS,
): (error: unknown) => void {
  const kinds = new Map<string, { toldAt: number; untold: number }>()
  return (error) => {
    const kind = errorMessage(error)
    const before = kinds.get(kind)
    if (before && performance.now() - before.toldAt < everyMs) {
      before.untold++
      return
    }
    kinds.delete(kind)
    kinds.set(kind, { toldAt: performance.now(), untold: 0 })
    const [oldest] = kinds.keys()
    if (kinds.size > MAX_TRACKED_MESSAGES && oldest !== undefined) kinds.delete(oldest)
    tell(error, before?.untold ?? 0)
  }
}

/** What went wrong; several attempts that failed together (IPv4 and IPv6) have a code and no message. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error && String(error.code)) || error.name
}
