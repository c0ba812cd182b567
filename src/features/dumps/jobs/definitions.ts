/** The jobs and schedules of dumps. */
import { z } from 'zod'
import { DumpKind } from '../../../contract/dump.ts'
import type { JobDefinition } from '../../../platform/queue/job-definition.ts'
import type { Schedule } from '../../../platform/queue/schedules.ts'

const WriteDumpJobData = z.strictObject({ run: z.string(), uuid: z.string(), kind: DumpKind, number: z.int() })

/** Writes a dump file whose groups are fixed. The sweep adds it again until the file is written. */
export const writeDumpJob: JobDefinition<z.infer<typeof WriteDumpJobData>> = {
  name: 'write-dump',
  data: WriteDumpJobData,
  attempts: 6,
  backoffMs: 500,
  discardFailures: true,
}

/** Fixes the groups of files that are due, and adds lost jobs of files again. */
export const sweepDumpsSchedule: Schedule = { name: 'sweep-dumps', everyMs: 5_000 }

/** Counts the reserved bytes again: a worker that is killed leaves a reservation behind. */
export const recountDumpBytesSchedule: Schedule = { name: 'recount-dump-bytes', everyMs: 60_000 }
