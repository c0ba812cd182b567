/** Counts format faults, and says once a minute how many each run has met: one line, however many there are. */
import type { Logger } from 'pino'
import type { GroupVerdict } from '../words/verdict.ts'

const EVERY_MS = 60_000

interface Tally {
  rollouts: number
  faults: Record<string, number>
}

export class FormatFaults {
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  #tallies = new Map<string, Tally>()

  constructor(log: Logger) {
    this.#log = log
    this.#timer = setInterval(() => this.tell(), EVERY_MS)
  }

  add(run: string, verdicts: GroupVerdict[]): void {
    const tally = this.#tallies.get(run) ?? { rollouts: 0, faults: {} }
    this.#tallies.set(run, tally)
    for (const verdict of verdicts) {
      if (verdict.status !== 'scored') continue
      tally.rollouts += 1
      if (verdict.fault) tally.faults[verdict.fault] = (tally.faults[verdict.fault] ?? 0) + 1
    }
  }

  tell(): void {
    for (const [run, { rollouts, faults }] of this.#tallies) {
      const count = Object.values(faults).reduce((sum, n) => sum + n, 0)
      if (count > 0) this.#log.info({ run, rollouts, faults }, `${count} of ${rollouts} completions have format faults`)
    }
    this.#tallies = new Map()
  }

  close(): void {
    clearInterval(this.#timer)
    this.tell()
  }
}
