/** Says in the log that groups are not dumped: at once, then once a minute for each run and reason, with how many. */
import type { Logger } from 'pino'

const TELL_AGAIN_MS = 60_000

export class Refusals {
  readonly #log: Logger
  readonly #told = new Map<string, { at: number; since: number }>()

  constructor(log: Logger) {
    this.#log = log
  }

  tell(run: string, reason: string): void {
    const key = `${run} ${reason}`
    const before = this.#told.get(key) ?? { at: Number.NEGATIVE_INFINITY, since: 0 }
    const groups = before.since + 1
    if (performance.now() - before.at < TELL_AGAIN_MS) {
      this.#told.set(key, { ...before, since: groups })
      return
    }
    this.#told.set(key, { at: performance.now(), since: 0 })
    this.#log.warn({ run, groups }, `groups are scored but not dumped: ${reason}`)
  }
}
