/**
 * What Redis stores of groups, all in the slot of their run: the records of groups and of the queue of their dumps, their texts
 * and arrays, and the keys of all.
 */
import { DumpKind } from '@reasoning-gym-server/contract/dump'
import { LRUCache } from 'lru-cache'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { RecordDeclaration } from '../../platform/redis/record.ts'
import { createRunKeys, type EpochKeys, epochPrefix, runSlot } from '../runs/records.ts'

const DUPLICATE_DETECTION_MS = 24 * 60 * 60 * 1000
/** Limit of the texts of a run's last groups that are retained for readers. */
const MAX_RETAINED_TEXT_BYTES = 64 * 1024 * 1024

/** Identifies a group: its run, the epoch of the run, and the ID of the group in it. */
export interface GroupRef {
  run: string
  epoch: number
  group: string
}

/** The fields of a group. It is accepted, completed with its result, and finally reduced to its hash. */
export const groupRecord = new RecordDeclaration({
  status: { kind: 'text' },
  /** Hash of the posted content. It is kept the longest, to distinguish a repeated post from a new one. */
  content_hash: { kind: 'text' },
  accepted_at: { kind: 'timestamp' },
  rollouts: { kind: 'counter' },
  /** 1 if the group is to wait for a trainer. */
  for_buffer: { kind: 'counter' },
  /** Packed (group-payload.ts). */
  metadata: { kind: 'text' },
  /** Size of its texts and arrays. */
  bytes: { kind: 'counter' },
  /** Present until the group is delivered or dropped. */
  awaiting_delivery: { kind: 'counter' },
  result: { kind: 'text' },
  /** JSON: the reward of each rollout. Kept with the content hash, to answer a repeated post when the result is gone. */
  rewards: { kind: 'text' },
  destination: { kind: 'text' },
  /** Of the result, to order groups without reading their results; empty without one. */
  mean_reward: { kind: 'text' },
  /** Number of the group in order of completion. */
  completion_number: { kind: 'cursor' },
})

const DUMP_KIND = new RegExp(`^(?:${DumpKind.options.join('|')})$`)

/** The fields of a run's dump state: the waiting records, and the progress of each kind of file. */
export const dumpStateRecord = new RecordDeclaration({
  /** Size of the records that wait for a file or to be written to it. */
  bytes: { kind: 'counter' },
  /** When the last record of the kind was added. */
  grown_at: { kind: 'timestamps', prefix: 'grown_at:', names: DUMP_KIND },
  /** Number of files whose groups are fixed, written or not, which is the number of the next file. */
  files: { kind: 'counters', prefix: 'files:', names: DUMP_KIND },
  written_groups: { kind: 'counters', prefix: 'written_groups:', names: DUMP_KIND },
  rejected_groups: { kind: 'counters', prefix: 'rejected_groups:', names: DUMP_KIND },
})

export type GroupKeys = ReturnType<typeof createGroupKeys>
export type RunGroupKeys = ReturnType<GroupKeys['forRun']>

/** Runs whose names of keys are remembered: composing them takes longer than anything else that a group needs them for. */
const MAX_KNOWN_RUNS = 100

export function createGroupKeys(keys: RedisKeys) {
  const runs = createRunKeys(keys)
  const composeRunKeys = (name: string, epoch: number) => {
    const prefix = epochPrefix(keys, name, epoch)
    return {
      ...runs.forRun(name, epoch),
      ...listSingleKeys(prefix),
      group: (id: string) => `${prefix}:group:${id}`,
      /** Packed (group-payload.ts). */
      texts: (id: string) => `${prefix}:texts:${id}`,
      /** Packed. There is no such key if the group has no arrays or no trainer may receive it. */
      arrays: (id: string) => `${prefix}:arrays:${id}`,
    }
  }
  const known = new LRUCache<string, Readonly<ReturnType<typeof composeRunKeys>>>({ max: MAX_KNOWN_RUNS })
  return {
    forRun(name: string, epoch: number) {
      const path = `${name}/${epoch}`
      const found = known.get(path) ?? composeRunKeys(name, epoch)
      known.set(path, found)
      return found
    },
    listEpochKeys: (name: string, epoch: number): EpochKeys => {
      const prefix = epochPrefix(keys, name, epoch)
      const single = listSingleKeys(prefix)
      return {
        keys: Object.values(single),
        indexes: [
          {
            index: single.allGroups,
            listKeys: (id) => ['group', 'texts', 'arrays'].map((kind) => `${prefix}:${kind}:${id}`),
          },
        ],
      }
    },
    /**
     * Keys of the records for a run's dump files: a hash (dumpStateRecord), and lists of the records that wait for the
     * next file of a kind. They are in the run's slot, but survive the deletion of the run.
     */
    forDumpQueue(name: string, uuid: string) {
      const prefix = dumpPrefix(keys, name, uuid)
      return { state: prefix, pendingRecords: (kind: DumpKind) => `${prefix}:${kind}` }
    },
  }
}

function listSingleKeys(prefix: string) {
  return {
    /** Hash: ID of a buffered group to its summary, as JSON. */
    groupSummaries: `${prefix}:group-summaries`,
    /** List of `BYTES ID`, oldest first: groups whose texts are retained after they were delivered or dropped. */
    retainedTexts: `${prefix}:retained-texts`,
    /** Sorted set: failed groups that can be retried, by the time of the failure. */
    failedGroups: `${prefix}:failed-groups`,
    /** Sorted set: groups that a rewind has voided, by the rewind and their order of completion. */
    rewoundGroups: `${prefix}:rewound-groups`,
    /**
     * Sorted set: every group that has a key, by the time when the key expires, in milliseconds of the Redis clock; +inf
     * while the group is pending or awaits delivery.
     */
    allGroups: `${prefix}:all-groups`,
  }
}

/** Returns the prefix of all keys of a run's dumps. It contains no epoch, because the files outlive the run. */
export function dumpPrefix(keys: RedisKeys, name: string, uuid: string): string {
  return `${runSlot(keys, name)}dumps:${uuid}`
}

/** Identifies the group in the log, and its completion among the notifications. */
export function formatGroupPath({ run, epoch, group }: GroupRef): string {
  return `${formatEpochPath({ name: run, epoch })}/${group}`
}

/** Identifies the completions of all groups of a run among the notifications. */
export function formatEpochPath({ name, epoch }: { name: string; epoch: number }): string {
  return `${name}/${epoch}`
}

/** Returns the ID of the job that scores the group. It needs no escapes in a URL. */
export function formatScoreJobId({ run, epoch, group }: GroupRef): string {
  return `${run}~${epoch}~${group}`
}

export function buildRetirementArgs(keys: RunGroupKeys, maxRetainedGroups: number) {
  return {
    max_retained_groups: maxRetainedGroups,
    max_retained_bytes: MAX_RETAINED_TEXT_BYTES,
    duplicate_detection_ms: DUPLICATE_DETECTION_MS,
    group_key_prefix: keys.group(''),
    texts_key_prefix: keys.texts(''),
    arrays_key_prefix: keys.arrays(''),
  }
}
