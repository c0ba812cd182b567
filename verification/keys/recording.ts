/** Counts the findings of one task, and records them for `GET /tasks/{task}` and the reference. */
import { writeFileSync } from 'node:fs'
import type { KeyFaults } from '@reasoning-gym-server/contract/task'
import { KEYS_FILE, type RecordedKeyChecks, readKeyChecks } from '../../src/features/tasks/validation/recorded.ts'
import { FINDINGS, type Finding, type Found } from './findings.ts'

const MAX_EXAMPLES = 20
const FAULTS = ['wrong_key', 'several_readings', 'no_right_answer', 'right_unpaid', 'wrong_paid'] as const
type Scoring = (typeof FINDINGS)[Finding]['scoring']

/** Items, those with each finding, and those with each fault. An item counts once for each. */
class Counts {
  items = 0
  readonly counts = new Map<Finding, number>()
  readonly #faults = new Map<string, number>()

  add(found: readonly Found[]): void {
    this.items++
    for (const finding of new Set(found.map(({ finding }) => finding)))
      this.counts.set(finding, (this.counts.get(finding) ?? 0) + 1)
    const faults = found.map(({ finding }) => `${FINDINGS[finding].scoring} ${FINDINGS[finding].fault}`)
    for (const fault of new Set(faults)) this.#faults.set(fault, (this.#faults.get(fault) ?? 0) + 1)
  }

  share(scoring: Scoring, fault: keyof KeyFaults): number {
    return round((this.#faults.get(`${scoring} ${fault}`) ?? 0) / Math.max(1, this.items))
  }
}

export class KeyTally {
  readonly total = new Counts()
  readonly examples = new Map<Finding, string[]>()
  readonly #cells: Counts[] = []

  /** The defaults or the rung that is being compared. */
  get cell(): Counts {
    return this.#cells.at(-1) ?? this.total
  }

  openCell(): void {
    this.#cells.push(new Counts())
  }

  add(found: readonly Found[]): void {
    this.total.add(found)
    this.cell.add(found)
    for (const { finding, detail } of found) {
      const texts = this.examples.get(finding) ?? []
      this.examples.set(finding, texts)
      if (texts.length < MAX_EXAMPLES) texts.push(detail)
    }
  }

  summarize(): Omit<RecordedKeyChecks['tasks'][string], 'limits'> {
    const faults = (share: (fault: keyof KeyFaults) => number) =>
      Object.fromEntries(FAULTS.map((fault) => [fault, share(fault)])) as Record<(typeof FAULTS)[number], number> // one each
    return {
      items: this.total.items,
      upstream: faults((fault) => this.total.share('upstream', fault)),
      worst_rung: faults((fault) => Math.max(0, ...this.#cells.map((cell) => cell.share('upstream', fault)))),
      hardened: faults((fault) => this.total.share('hardened', fault)),
    }
  }
}

function round(share: number): number {
  return Math.round(share * 10_000) / 10_000
}

/** Replaces what is recorded of the task. */
export function recordKeyChecks(task: string, check: RecordedKeyChecks['tasks'][string]): void {
  const recorded = readKeyChecks()
  const tasks = Object.entries({ ...recorded.tasks, [task]: check }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(KEYS_FILE, `${JSON.stringify({ ...recorded, tasks: Object.fromEntries(tasks) }, null, 1)}\n`)
}
