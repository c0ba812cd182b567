/** The jobs of dumps. */
import { z } from 'zod'
import { DumpKind } from '../../../contract/dump.ts'
import type { JobDefinition } from '../../../platform/queue/job-definition.ts'

const WriteDumpJobData = z.strictObject({ run: z.string(), uuid: z.string(), kind: DumpKind, number: z.int() })

/** Writes a dump file whose groups are fixed. The sweep adds it again until the file is written. */
export const writeDumpJob: JobDefinition<z.infer<typeof WriteDumpJobData>> = {
  name: 'write-dump',
  data: WriteDumpJobData,
  attempts: 6,
  backoffMs: 500,
  discardFailures: true,
}
