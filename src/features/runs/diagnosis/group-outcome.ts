/**
 * The outcome of each completed group that the diagnosis of a run keeps: a packed record of fixed size, in one window
 * per task.
 */

/** Number of groups in the window of a task. */
export const OUTCOME_WINDOW = 50
/**
 * Number of most common answers of a group whose counts are kept. Each rarer answer counts as different from all
 * others.
 */
export const MAX_COUNTED_ANSWERS = 4
/** Number of bytes of the most common answer that are kept for display. */
const MAX_SHOWN_BYTES = 28

/** `signal`, or the reason for its absence. A record stores the index, so new kinds must be appended. */
const OUTCOME_KINDS = ['signal', 'easy', 'hard', 'masked', 'skipped', 'lone_voter'] as const
export type OutcomeKind = (typeof OUTCOME_KINDS)[number]

/** Sums of a control, whose mean is `sum / count`. */
export interface AuditSums {
  count: number
  sum: number
}

/** The audits of one task since its last group. */
export interface AuditResults {
  hackGap: AuditSums
  permuted: AuditSums
}

export interface GroupOutcome {
  completedAt: number
  kind: OutcomeKind
  /** Hash of the question. Comparisons across questions count items with equal questions once. */
  question: number
  /** Number of scored rollouts, and how many of them have an extracted answer. */
  scored: number
  answers: number
  /** Number of distinct answers, and their entropy in bits. */
  distinct: number
  entropy: number
  /** Counts of answers by hash, most common first. */
  counts: { hash: number; count: number }[]
  /** Beginning of the most common answer. */
  shown: string
  meanScore: number | null
  /** Guess floor of the item's difficulty under the run's scoring rule, or null if no task card has one. */
  guessFloor: number | null
  /** Difficulty of the item, or null for a config. */
  difficulty: number | null
  /** Mean number of tokens of the completions, or null if the trainer sent none. */
  meanLength: number | null
  /**
   * Upstream score minus hardened score, and scores of answers on another item. Both controls use answers to earlier
   * groups.
   */
  hackGap: AuditSums
  permuted: AuditSums
}

const VERSION = 3
const COUNTS_AT = 40
const CONTROLS_AT = COUNTS_AT + MAX_COUNTED_ANSWERS * 6
const SHOWN_AT = CONTROLS_AT + 12
export const OUTCOME_BYTES = SHOWN_AT + MAX_SHOWN_BYTES

export function packOutcome(outcome: GroupOutcome): Buffer {
  const buffer = Buffer.alloc(OUTCOME_BYTES)
  buffer.writeUInt8(VERSION, 0)
  buffer.writeUInt8(OUTCOME_KINDS.indexOf(outcome.kind), 1)
  buffer.writeDoubleLE(outcome.completedAt, 2)
  buffer.writeUInt32LE(outcome.question, 10)
  buffer.writeUInt16LE(outcome.scored, 14)
  buffer.writeUInt16LE(outcome.answers, 16)
  buffer.writeUInt16LE(outcome.distinct, 18)
  buffer.writeFloatLE(outcome.entropy, 20)
  buffer.writeFloatLE(outcome.meanScore ?? Number.NaN, 24)
  buffer.writeFloatLE(outcome.guessFloor ?? Number.NaN, 28)
  buffer.writeFloatLE(outcome.meanLength ?? Number.NaN, 32)
  buffer.writeFloatLE(outcome.difficulty ?? Number.NaN, 36)
  outcome.counts.slice(0, MAX_COUNTED_ANSWERS).forEach(({ hash, count }, k) => {
    buffer.writeUInt32LE(hash, COUNTS_AT + 6 * k)
    buffer.writeUInt16LE(count, COUNTS_AT + 6 * k + 4)
  })
  buffer.writeUInt16LE(outcome.hackGap.count, CONTROLS_AT)
  buffer.writeFloatLE(outcome.hackGap.sum, CONTROLS_AT + 2)
  buffer.writeUInt16LE(outcome.permuted.count, CONTROLS_AT + 6)
  buffer.writeFloatLE(outcome.permuted.sum, CONTROLS_AT + 8)
  buffer.write(outcome.shown, SHOWN_AT, MAX_SHOWN_BYTES) // never writes a partial character
  return buffer
}

/** Unpacks the outcomes of each task, oldest first, from a hash of counts and rings (scripts/complete-groups.lua). */
export function unpackWindows(fields: Readonly<Record<string, Buffer>>): Record<string, GroupOutcome[]> {
  const windows: Record<string, { age: number; outcome: GroupOutcome }[]> = {}
  for (const [field, record] of Object.entries(fields)) {
    const [task = '', place] = field.split(':')
    const outcome = place === undefined ? undefined : unpackOutcome(record)
    if (!outcome) continue
    const age = (Number(fields[task]) - Number(place)) % OUTCOME_WINDOW
    const window = windows[task] ?? []
    window.push({ age, outcome })
    windows[task] = window
  }
  return Object.fromEntries(
    Object.entries(windows).map(([task, window]) => [
      task,
      window.toSorted((a, b) => b.age - a.age).map(({ outcome }) => outcome),
    ]),
  )
}

/** Returns undefined if another version of the server wrote the record. */
export function unpackOutcome(record: Buffer): GroupOutcome | undefined {
  if (record.length !== OUTCOME_BYTES || record.readUInt8(0) !== VERSION) return undefined
  const counts: GroupOutcome['counts'] = []
  for (let at = COUNTS_AT; at < CONTROLS_AT; at += 6) {
    const count = record.readUInt16LE(at + 4)
    if (count > 0) counts.push({ hash: record.readUInt32LE(at), count })
  }
  const end = record.indexOf(0, SHOWN_AT)
  return {
    completedAt: record.readDoubleLE(2),
    kind: OUTCOME_KINDS[record.readUInt8(1)] ?? 'signal',
    question: record.readUInt32LE(10),
    scored: record.readUInt16LE(14),
    answers: record.readUInt16LE(16),
    distinct: record.readUInt16LE(18),
    entropy: record.readFloatLE(20),
    counts,
    shown: record.toString('utf8', SHOWN_AT, end < 0 ? record.length : end),
    meanScore: toNullable(record.readFloatLE(24)),
    guessFloor: toNullable(record.readFloatLE(28)),
    meanLength: toNullable(record.readFloatLE(32)),
    difficulty: toNullable(record.readFloatLE(36)),
    hackGap: { count: record.readUInt16LE(CONTROLS_AT), sum: record.readFloatLE(CONTROLS_AT + 2) },
    permuted: { count: record.readUInt16LE(CONTROLS_AT + 6), sum: record.readFloatLE(CONTROLS_AT + 8) },
  }
}

function toNullable(value: number): number | null {
  return Number.isNaN(value) ? null : value
}
