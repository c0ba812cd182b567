/** What a start waits for is said at once, and again every ten seconds. */

export type ReportProgress = (line: string) => void

const REMINDER_INTERVAL_MS = 10_000

/** Reports `what()` with the seconds so far every ten seconds, until `work` has ended. */
export async function remindWhile<T>(report: ReportProgress, what: () => string, work: Promise<T>): Promise<T> {
  const startedAt = Date.now()
  const timer = setInterval(
    () => report(`${what()} (${Math.round((Date.now() - startedAt) / 1000)} s so far)`),
    REMINDER_INTERVAL_MS,
  )
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}
