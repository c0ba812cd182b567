/** What Redis stores of batches, in the slot of their run: the fields of an open batch, and the keys. */
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { RecordDeclaration } from '../../platform/redis/record.ts'
import { createGroupKeys, type RunGroupKeys } from '../rollouts/records.ts'
import { epochPrefix, type ListEpochKeys } from '../runs/records.ts'

/** Version of the JSON that a composed batch is stored as. */
export const BATCH_FORMAT = 2

/** The fields of an open batch. */
export const batchRecord = new RecordDeclaration({
  /** The composed batch as JSON. */
  batch: { kind: 'text' },
  /** `RANK/RANKS`: set once that rank of that number of ranks has acknowledged. */
  acknowledged_ranks: { kind: 'counters', prefix: 'acknowledged_rank:', names: /^\d+\/\d+$/ },
  /** How many ranks have acknowledged, by the number of ranks. */
  rank_counts: { kind: 'counters', prefix: 'rank_count:', names: /^\d+$/ },
})

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
