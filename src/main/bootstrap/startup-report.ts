/** What a start tells: the errors that end it, and what it waits for, so that no wait of more than a second is silent. */

/** The server cannot start. The message is one line that says what to do. */
export class StartupError extends Error {}

/** Says in one sentence why the server cannot listen. */
export function createListenError({ host, port }: { host: string; port: number }, cause: unknown): StartupError {
  const { code, message } = cause as NodeJS.ErrnoException // as listen() reports it
  return new StartupError(
    code === 'EADDRINUSE'
      ? `Port ${port} is taken: stop what listens there, or set PORT to another`
      : `Cannot listen on ${host}:${port}: ${message}`,
    { cause },
  )
}

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
