/** Redis keys of groups: their records in the slot of their run, and their payloads in any slot. */
import type { DumpKind } from '@reasoning-gym-server/contract/dump'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { createRunKeys, epochPrefix, type ListEpochKeys, type RunKeys, runSlot } from '../runs/keys.ts'

export interface RunGroupKeys extends RunKeys {
  /** Hash: ID of a buffered group to its summary, as JSON. */
  groupSummaries: string
  /** List of `BYTES TOKEN ID`, oldest first: groups whose texts are kept after they were delivered or dropped. */
  retainedTexts: string
  /** Sorted set: failed groups that can be retried, by the time of the failure. */
  failedGroups: string
  /**
   * Sorted set: every group that has a key, by the time when the key expires, in milliseconds of the Redis clock; +inf
   * while the group is pending or awaits delivery.
   */
  allGroups: string
  /** Set of `PART TOKEN`: payloads that are no longer used and whose keys are to be deleted (payload-repository.ts). */
  releasedPayloads: string
  group(id: string): string
}

/** Keys of one payload. They have no hash tag, so each may be on another master. */
export interface PayloadKeys {
  texts: string
  arrays: string
}

/** Keys of the records for a run's dump files. They are in the run's slot, but survive the deletion of the run. */
export interface DumpQueueKeys {
  /** Hash (dump-state-record.ts). */
  state: string
  /** List of records that wait for the next file of a kind. */
  pendingRecords(kind: DumpKind): string
}

export interface GroupKeys {
  /** Channel on which completed groups are announced: `RUN/EPOCH/GROUP`. */
  groupCompletionChannel: string
  forRun(name: string, epoch: number): RunGroupKeys
  forPayload(name: string, epoch: number, token: string): PayloadKeys
  listEpochKeys: ListEpochKeys
  forDumpQueue(name: string, uuid: string): DumpQueueKeys
}

export function createGroupKeys(keys: RedisKeys): GroupKeys {
  const runs = createRunKeys(keys)
  return {
    groupCompletionChannel: keys.key('group-completions'),
    forRun(name, epoch) {
      const prefix = epochPrefix(keys, name, epoch)
      return {
        ...runs.forRun(name, epoch),
        ...listSingleKeys(prefix),
        group: (id) => `${prefix}:group:${id}`,
      }
    },
    forPayload(name, epoch, token) {
      const prefix = keys.key(`payload:${name}:${epoch}:${token}`)
      return { texts: `${prefix}:texts`, arrays: `${prefix}:arrays` }
    },
    listEpochKeys(name, epoch) {
      const prefix = epochPrefix(keys, name, epoch)
      const single = listSingleKeys(prefix)
      return {
        keys: Object.values(single),
        indexes: [{ index: single.allGroups, listKeys: (id) => [`${prefix}:group:${id}`] }],
      }
    },
    forDumpQueue(name, uuid) {
      const prefix = dumpPrefix(keys, name, uuid)
      return { state: prefix, pendingRecords: (kind) => `${prefix}:${kind}` }
    },
  }
}

/** Lists the keys that a run has once in each epoch. */
function listSingleKeys(prefix: string) {
  return {
    groupSummaries: `${prefix}:group-summaries`,
    retainedTexts: `${prefix}:retained-texts`,
    failedGroups: `${prefix}:failed-groups`,
    allGroups: `${prefix}:all-groups`,
    releasedPayloads: `${prefix}:released-payloads`,
  }
}

/** Returns the prefix of all keys of a run's dumps. It contains no epoch, because the files outlive the run. */
export function dumpPrefix(keys: RedisKeys, name: string, uuid: string): string {
  return `${runSlot(keys, name)}dumps:${uuid}`
}
