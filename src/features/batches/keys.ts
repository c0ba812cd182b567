/** Keys of batches, in the slot of their run. */
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { createGroupKeys, type RunGroupKeys } from '../rollouts/keys.ts'
import { epochPrefix } from '../runs/keys.ts'

export interface RunBatchKeys extends RunGroupKeys {
  /** Sorted set of steps. */
  acknowledgedSteps: string
  batch(step: number): string
}

export interface BatchKeys {
  forRun(name: string, epoch: number): RunBatchKeys
}

export function createBatchKeys(keys: RedisKeys): BatchKeys {
  const groups = createGroupKeys(keys)
  return {
    forRun(name, epoch) {
      const prefix = epochPrefix(keys, name, epoch)
      return {
        ...groups.forRun(name, epoch),
        acknowledgedSteps: `${prefix}:acknowledged-steps`,
        batch: (step) => `${prefix}:batch:${step}`,
      }
    },
  }
}
