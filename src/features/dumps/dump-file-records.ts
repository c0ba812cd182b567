/** The stored records of dump files: frozen files, files on disk, and the space that all of them use. */

import { DumpKind } from '@reasoning-gym-server/contract/dump'
import { z } from 'zod'
import { RecordDeclaration } from '../../platform/redis/record.ts'

export const UnwrittenFile = z.strictObject({
  groups: z.int(),
  /** When its groups were fixed. */
  frozen_at: z.number(),
  /** Folder that claims the file. */
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
  /** Host name of the machine that wrote the file, and ID of the folder that has it. */
  node: z.string(),
  folder: z.string(),
})
export type WrittenFile = z.infer<typeof WrittenFile>

export const dumpSpaceRecord = new RecordDeclaration({
  /** Size of all dumps, waiting and on disk. */
  bytes: { kind: 'counter' },
  changed_at: { kind: 'timestamp' },
})
