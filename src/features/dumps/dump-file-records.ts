/** The stored records of dump files: those whose groups are fixed, those on disk, and the space of all. */
import { z } from 'zod'
import { DumpKind } from '../../contract/dump.ts'
import { RecordDeclaration } from '../../platform/redis/record.ts'

export const UnwrittenFile = z.strictObject({
  groups: z.int(),
  /** When its groups were fixed. */
  frozen_at: z.number(),
  /** The folder that claims it. */
  folder: z.string().optional(),
  claimed_at: z.number().optional(),
})

export const WrittenFile = z.strictObject({
  name: z.string(),
  run: z.string(),
  kind: DumpKind,
  groups: z.int(),
  bytes: z.int(),
  created_at: z.string(),
  /** Host name of the machine that wrote it, and ID of the folder that has it. */
  node: z.string(),
  folder: z.string(),
})
export type WrittenFile = z.infer<typeof WrittenFile>

export const dumpSpaceRecord = new RecordDeclaration({
  /** Of all dumps, waiting and on disk. */
  bytes: { kind: 'counter' },
  changed_at: { kind: 'timestamp' },
})
