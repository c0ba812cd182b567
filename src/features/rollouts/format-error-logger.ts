/** Counts format errors and logs one line per run and minute. */

import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import type { Logger } from 'pino'

const LOG_INTERVAL_MS = 60_000

interface FormatErrorCounts {
  rollouts: number
  faults: Record<string, number>
}

export class FormatErrorLogger {
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  #countsByRun = new Map<string, FormatErrorCounts>()

  constructor(log: Logger) {
    this.#log = log
    this.#timer = setInterval(() => this.flush(), LOG_INTERVAL_MS)
  }

  add(run: string, verdicts: GroupVerdict[]): void {
    const counts = this.#countsByRun.get(run) ?? { rollouts: 0, faults: {} }
    this.#countsByRun.set(run, counts)
    for (const verdict of verdicts) {
      if (verdict.status !== 'scored') continue
      counts.rollouts += 1
      if (verdict.fault) counts.faults[verdict.fault] = (counts.faults[verdict.fault] ?? 0) + 1
    }
  }

  flush(): void {
    for (const [run, { rollouts, faults }] of this.#countsByRun) {
      const count = Object.values(faults).reduce((sum, n) => sum + n, 0)
      if (count > 0) this.#log.info({ run, rollouts, faults }, `${count} of ${rollouts} completions have format errors`)
    }
    this.#countsByRun = new Map()
  }

  close(): void {
    clearInterval(this.#timer)
    this.flush()
  }
}
