/**
 * Sums of the groups of a task, a step or a block of groups. Redis keeps each as one packed value, which the script that completes
 * groups adds to: as fields of a hash, they would take most of its time.
 */

import type { Redis } from 'ioredis'
import { Packr } from 'msgpackr'
import { GROUP_SUMS, type StatisticSums } from '../../grading/group-statistics.ts'
import { RecordDeclaration } from '../../platform/redis/record.ts'
import { splitList } from '../../platform/split-list.ts'

const COUNT = { kind: 'counter' } as const
const TASK_NAME = /^\w{1,100}$/
const FIELDS = {
  ...GROUP_SUMS,
  /** By task: the sum of the difficulties of its groups, and how many groups have one. */
  task_difficulty: { kind: 'sums', prefix: 'task_difficulty:', names: TASK_NAME },
  task_difficulty_count: { kind: 'counters', prefix: 'task_difficulty_count:', names: TASK_NAME },
  /** A time, so the latest one is kept. */
  last_completed_at: { kind: 'timestamp' },
  all_correct: COUNT,
  all_wrong: COUNT,
  lag_count: COUNT,
  lag_sum: { kind: 'sum' },
} as const

export const sumsRecord = new RecordDeclaration(addToCheckpoint(FIELDS))

/** The format of cmsgpack in Lua, which keeps every bit of a number. */
const packr = new Packr({ useRecords: false, int64AsType: 'number' })

export function packSums(sums: StatisticSums): Buffer {
  return packr.pack(sums)
}

export function unpackSums(packed: Buffer): StatisticSums {
  return packr.unpack(packed) as StatisticSums // packed by packSums or a script
}

/** Adds the sums of one row to those of several. */
export function addSums(total: StatisticSums, sums: StatisticSums): void {
  for (const field in sums) {
    const before = total[field] ?? 0
    const amount = sums[field] ?? 0
    total[field] = field === sumsRecord.constants.last_completed_at ? Math.max(before, amount) : before + amount
  }
}

/** Rows that one command reads, of a few KB each. */
const ROWS_PER_READ = 128

/** Reads the sums of many steps or blocks, in their order. One that is gone has none. */
export async function* readSums(redis: Redis, key: string, rows: readonly string[]): AsyncGenerator<StatisticSums> {
  for (const part of splitList(rows, ROWS_PER_READ)) {
    for (const packed of await redis.hmgetBuffer(key, ...part)) yield packed ? unpackSums(packed) : {}
  }
}

function addToCheckpoint<const F extends Record<string, object>>(fields: F) {
  const entries = Object.entries(fields).map(([name, field]) => [name, { ...field, checkpoint: true }])
  return Object.fromEntries(entries) as { [N in keyof F]: F[N] & { checkpoint: true } } // keeps the type of each entry
}
