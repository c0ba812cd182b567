/**
 * What Redis stores of dumps: sealed files, files on disk, the space that all of them use, and the keys of all. Those of
 * one run are in its slot, because the script that completes a group also adds its record.
 */

import { DumpKind } from '@reasoning-gym-server/contract/dump'
import { z } from 'zod'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { RecordDeclaration } from '../../platform/redis/record.ts'
import { createGroupKeys, type DumpQueueKeys, dumpPrefix } from '../rollouts/records.ts'

/** A sealed file that is not on disk. */
export const UnwrittenFile = z.strictObject({
  groups: z.int(),
  /** When it was sealed. */
  sealed_at: z.number(),
  /** Folder that claims the file. */
  folder: z.string().optional(),
  claimed_at: z.number().optional(),
})

/** A file on disk. */
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

export interface RunDumpKeys extends DumpQueueKeys {
  /** Hash of sealed files that are not on disk: `KIND/NUMBER` to JSON. */
  unwrittenFiles: string
  /** Hash of files on disk: name to JSON. */
  writtenFiles: string
  /** List of the records of one file. */
  fileRecords(kind: DumpKind, number: number | ''): string
}

export interface DumpKeys {
  /** Set of `RUN/UUID` that have dumps. */
  dumpedRuns: string
  /** Sorted set of `RUN/UUID` in which records may wait, by the time the last record was added. */
  openDumpedRuns: string
  /** Hash: size of all dumps, waiting and on disk. */
  dumpSpace: string
  forDumps(name: string, uuid: string): RunDumpKeys
}

export function createDumpKeys(keys: RedisKeys): DumpKeys {
  const groups = createGroupKeys(keys)
  return {
    dumpedRuns: keys.key('dumped-runs'),
    openDumpedRuns: keys.key('open-dumped-runs'),
    dumpSpace: keys.key('dump-space'),
    forDumps(name, uuid) {
      const prefix = dumpPrefix(keys, name, uuid)
      return {
        ...groups.forDumpQueue(name, uuid),
        unwrittenFiles: `${prefix}:unwritten-files`,
        writtenFiles: `${prefix}:written-files`,
        fileRecords: (kind, number) => `${prefix}:${kind}:${number}`,
      }
    },
  }
}
