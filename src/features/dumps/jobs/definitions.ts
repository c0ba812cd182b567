/** The jobs and schedules of dumps. */

import { DumpKind } from '@reasoning-gym-server/contract/dump'
import { z } from 'zod'
import type { JobDefinition } from '../../../platform/queue/job-definition.ts'
import type { Schedule } from '../../../platform/queue/schedules.ts'

const WriteDumpJobData = z.strictObject({ run: z.string(), uuid: z.string(), kind: DumpKind, number: z.int() })

/** Writes a frozen dump file. The sweep adds the job again until the file is written. */
export const writeDumpJob: JobDefinition<z.infer<typeof WriteDumpJobData>> = {
  name: 'write-dump',
  data: WriteDumpJobData,
  attempts: 6,
  backoffMs: 500,
  discardFailures: true,
}

/** Freezes the files that are due and adds lost jobs of files again. */
export const sweepDumpsSchedule: Schedule = { name: 'sweep-dumps', everyMs: 5_000 }

/** Recounts the reserved bytes, because a worker that is killed leaves a reservation behind. */
export const recountDumpBytesSchedule: Schedule = { name: 'recount-dump-bytes', everyMs: 60_000 }
