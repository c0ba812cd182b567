/**
 * Redis keys of dumps. Those of one run are in its slot, because the script that completes a group also adds its
 * record.
 */
import type { DumpKind } from '@reasoning-gym-server/contract/dump'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { createGroupKeys, type DumpQueueKeys, dumpPrefix } from '../rollouts/keys.ts'

export interface RunDumpKeys extends DumpQueueKeys {
  /** Hash of frozen files that are not on disk: `KIND/NUMBER` to JSON. */
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
