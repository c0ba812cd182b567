/** Redis keys of batches, in the slot of their run. */
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { createGroupKeys, type RunGroupKeys } from '../rollouts/keys.ts'
import { epochPrefix, type ListEpochKeys } from '../runs/records.ts'

export interface RunBatchKeys extends RunGroupKeys {
  /** Sorted set of steps. */
  acknowledgedSteps: string
  batch(step: number | string): string
}

export interface BatchKeys {
  forRun(name: string, epoch: number): RunBatchKeys
  listEpochKeys: ListEpochKeys
}

export function createBatchKeys(keys: RedisKeys): BatchKeys {
  const groups = createGroupKeys(keys)
  const forRun = (name: string, epoch: number): RunBatchKeys => {
    const prefix = epochPrefix(keys, name, epoch)
    return {
      ...groups.forRun(name, epoch),
      acknowledgedSteps: `${prefix}:acknowledged-steps`,
      batch: (step) => `${prefix}:batch:${step}`,
    }
  }
  return {
    forRun,
    listEpochKeys(name, epoch) {
      const run = forRun(name, epoch)
      return {
        keys: [run.acknowledgedSteps],
        indexes: [{ index: run.openBatches, listKeys: (step) => [run.batch(step)] }],
      }
    },
  }
}
