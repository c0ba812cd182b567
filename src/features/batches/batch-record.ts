/** The stored fields of an open batch. */
import { RecordDeclaration } from '../../platform/redis/record.ts'

/** Version of the JSON that a composed batch is stored as. */
export const BATCH_FORMAT = 2

export const batchRecord = new RecordDeclaration({
  /** The composed batch as JSON. */
  batch: { kind: 'text' },
  /** `RANK/RANKS`: set once that rank of that number of ranks has acknowledged. */
  acknowledged_ranks: { kind: 'counters', prefix: 'acknowledged_rank:', names: /^\d+\/\d+$/ },
  /** How many ranks have acknowledged, by the number of ranks. */
  rank_counts: { kind: 'counters', prefix: 'rank_count:', names: /^\d+$/ },
})
