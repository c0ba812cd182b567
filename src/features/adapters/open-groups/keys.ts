/**
 * Redis keys of open groups, in the hash slot of their run. The sorted set of a run's open groups is among the keys of
 * runs, because runs count it.
 */
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { createRunKeys, epochPrefix, type ListEpochKeys, type RunKeys } from '../../runs/records.ts'

export interface RunOpenGroupKeys extends RunKeys {
  /** Sorted set: `ITEM SAMPLE` of samples whose response is in flight, by the time they were recorded. */
  pendingSamples: string
  /** Sorted set: IDs of closed groups that the run has not accepted yet, by the time they were closed. */
  closedGroups: string
  /** Hash with the fields of open-group-record.ts. */
  openGroupTotals: string
  /** Sorted set: IDs of samples in closed groups that the client named, by the time the group was closed. */
  countedRollouts: string
  /** Hash: process that records samples to the time of its last sign of life, in ms of the Redis clock. */
  sampleProcesses: string
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
