/**
 * What Redis stores about open groups: their keys, in the hash slot of the run, and the fields of their records. The
 * sorted set of a run's open groups is among the keys of runs, because runs count it.
 */
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { RecordDeclaration } from '../../../platform/redis/record.ts'
import { createRunKeys, epochPrefix, type ListEpochKeys, type RunKeys } from '../../runs/records.ts'

interface RunOpenGroupKeys extends RunKeys {
  /** Sorted set: `ITEM SAMPLE` of samples whose response is in flight, by the time they were recorded. */
  pendingSamples: string
  /** Sorted set: IDs of closed groups that the run has not accepted yet, by the time they were closed. */
  closedGroups: string
  /** Hash: `openGroupTotalsRecord`. */
  openGroupTotals: string
  /** Sorted set: IDs of samples in closed groups that the client named, by the time the group was closed. */
  countedRollouts: string
  /** Hash: process that records samples to the time of its last sign of life, in ms of the Redis clock. */
  sampleProcesses: string
  /** Hash: `openGroupRecord` and `SAMPLE_FIELDS`, by the key of the item. */
  openGroup(item: string): string
  closedGroup(id: string): string
}

interface OpenGroupKeys {
  forRun(name: string, epoch: number): RunOpenGroupKeys
  listEpochKeys: ListEpochKeys
}

export function createOpenGroupKeys(keys: RedisKeys): OpenGroupKeys {
  const runs = createRunKeys(keys)
  const forRun = (name: string, epoch: number): RunOpenGroupKeys => {
    const prefix = epochPrefix(keys, name, epoch)
    return {
      ...runs.forRun(name, epoch),
      pendingSamples: `${prefix}:pending-samples`,
      closedGroups: `${prefix}:closed-groups`,
      openGroupTotals: `${prefix}:open-group-totals`,
      countedRollouts: `${prefix}:counted-rollouts`,
      sampleProcesses: `${prefix}:sample-processes`,
      openGroup: (item) => `${prefix}:open-group:${item}`,
      closedGroup: (id) => `${prefix}:closed-group:${id}`,
    }
  }
  return {
    forRun,
    listEpochKeys(name, epoch) {
      const run = forRun(name, epoch)
      return {
        keys: [run.pendingSamples, run.openGroupTotals, run.countedRollouts, run.sampleProcesses],
        indexes: [
          { index: run.openGroups, listKeys: (item) => [run.openGroup(item)] },
          { index: run.closedGroups, listKeys: (id) => [run.closedGroup(id)] },
        ],
      }
    },
  }
}

export const openGroupRecord = new RecordDeclaration({
  item_id: { kind: 'text' },
  /** Number of samples whose response is not delivered yet; `counted` is the number of samples that count. */
  pending: { kind: 'counter' },
  counted: { kind: 'counter' },
  /** IDs of the samples that count, in order, separated by spaces. */
  order: { kind: 'text' },
  /** Bytes of the stored rollouts. */
  bytes: { kind: 'counter' },
  /** 1 if the closed group must wait for a trainer in the buffer. */
  for_buffer: { kind: 'counter' },
  closed_at: { kind: 'timestamp' },
})

/** Prefixes of the fields that an open group has for each sample, or for each distinct content of pending samples. */
export const SAMPLE_FIELDS = {
  /** Rollout of a sample: a compressed blob of JSON. */
  texts_prefix: 'texts:',
  /** JSON of a pending sample: `{ call, content, retried_at? }`. */
  pending_prefix: 'pending:',
  /** IDs of pending samples with that content that have not been matched to a retry, separated by spaces. */
  unmatched_prefix: 'unmatched:',
} as const

export const openGroupTotalsRecord = new RecordDeclaration({
  /** Bytes of the stored rollouts of open and closed groups. */
  bytes: { kind: 'counter' },
  /** Number of groups closed so far, used to number their IDs. */
  closed: { kind: 'counter' },
})
