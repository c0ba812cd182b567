/** Says in the log that groups are not dumped: at once, then once a minute for each run and reason, with how many. */
import type { Logger } from 'pino'

const WARNING_INTERVAL_MS = 60_000

export class DumpRejectionLogger {
  readonly #log: Logger
  readonly #lastWarnings = new Map<string, { at: number; since: number }>()

  constructor(log: Logger) {
    this.#log = log
  }

  report(run: string, reason: string): void {
    const key = `${run} ${reason}`
    const before = this.#lastWarnings.get(key) ?? { at: Number.NEGATIVE_INFINITY, since: 0 }
    const groups = before.since + 1
    if (performance.now() - before.at < WARNING_INTERVAL_MS) {
      this.#lastWarnings.set(key, { ...before, since: groups })
      return
    }
    this.#lastWarnings.set(key, { at: performance.now(), since: 0 })
    this.#log.warn({ run, groups }, `groups are scored but not dumped: ${reason}`)
  }
}
