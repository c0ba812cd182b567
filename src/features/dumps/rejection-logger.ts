/** Logs scored groups that were not dumped: the first at once, then their number once a minute per run and reason. */
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
    const last = this.#lastWarnings.get(key) ?? { at: Number.NEGATIVE_INFINITY, since: 0 }
    const groups = last.since + 1
    if (performance.now() - last.at < WARNING_INTERVAL_MS) {
      this.#lastWarnings.set(key, { ...last, since: groups })
      return
    }
    this.#lastWarnings.set(key, { at: performance.now(), since: 0 })
    this.#log.warn({ run, rejectedGroups: groups }, `groups were scored, but not dumped: ${reason}`)
  }
}
