/** Reports what the start waits for, so that no wait of more than a second is silent. */

export interface ReportProgress {
  (line: string): void
  /** How often a wait is reported, in milliseconds. Default: every ten seconds. */
  everyMs?: number
}

const FIRST_NOTICE_MS = 500
const REPEAT_NOTICE_MS = 10_000

/** Runs the wait and reports `line` after half a second, then regularly, until it is over. */
export async function withWaitNotice<T>(report: ReportProgress, line: () => string, wait: Promise<T>): Promise<T> {
  let repeat: NodeJS.Timeout | undefined
  const first = setTimeout(() => {
    report(line())
    repeat = setInterval(() => report(line()), report.everyMs ?? REPEAT_NOTICE_MS)
  }, FIRST_NOTICE_MS)
  try {
    return await wait
  } finally {
    clearTimeout(first)
    clearInterval(repeat)
  }
}
