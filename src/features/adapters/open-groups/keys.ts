/** Keys of open groups, in the slot of their run. The sorted set of a run's open groups is among the keys of runs, which count it. */
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { createRunKeys, epochPrefix, type ListEpochKeys, type RunKeys } from '../../runs/keys.ts'

export interface RunOpenGroupKeys extends RunKeys {
  /** Sorted set: `ITEM SAMPLE` of samples whose answer is on its way, by the time they were noted. */
  pendingSamples: string
  /** Sorted set: IDs of closed groups that the run has yet to accept, by the time they were closed. */
  closedGroups: string
  /** Hash (open-group-record.ts). */
  openGroupTotals: string
  /** Sorted set: IDs of samples that the client named and that are in a closed group, by the time it was closed. */
  countedRollouts: string
  /** Hash: process that notes samples to when it was last heard of, ms of Redis' clock. */
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
