/** Shared keys, limits and constants of the scripts that move positions. */
import { defineScript } from '../../../platform/redis/scripts.ts'
import type { AllRunKeys, RunKeys } from '../keys.ts'
import { backlogRecord, runRecord } from '../records.ts'
import type { StoredRun } from '../repository.ts'
import { NO_ITEM, POSITIONS_PER_CHUNK, RECORD_BYTES } from './issued-items.ts'
import { SEED_STRIDE } from './sequence.ts'
import { STEPS_PER_CHUNK } from './step-positions.ts'

const LIMITS = {
  /** More than any caller needs. A checkpoint could name any number, and a long script would block Redis for all clients. */
  open_positions: 2000,
  /** Number of already requested positions that one script skips. The next call continues from there. */
  walk: 16_384,
  /** How long a process may take to make the item of a claimed position before another one may claim it. */
  claim_ms: 30_000,
  /** How long calls wait for a new position. After that, it goes to the next call that finds its item made. */
  new_position_wait_ms: 1500,
  /** Number of failed attempts after which a position is skipped or draws another task. */
  attempts: 2,
  /** Number of skipped positions to list, the latest ones. */
  skipped_positions: 100,
  /** Limit of leases. Leases beyond it are dropped, those that end first before the others. */
  leases: 1_000_000,
  /**
   * How long a repeated call finds the items that an interrupted call was given. Later, they are handed to other calls
   * when their leases expire.
   */
  taken_items_ms: 10 * 60 * 1000,
  /** Number of positions after which a question may be used once more. At most 15 MB per run in Redis. */
  remembered_questions: 131_072,
  /** How far beyond the positions in use a position may be requested by number. At most 12 MB per run in Redis. */
  positions_ahead: 2 ** 20,
  /** Number of positions with distinct seeds. From here on, the seeds of the first positions repeat. */
  addressable_positions: SEED_STRIDE,
}

const SEQUENCE_KEYS = [
  'run',
  'openPositions',
  'positionStates',
  'itemBodies',
  'requestedPositions',
  'issuedItems',
  'issuedTasks',
  'curriculum',
  'states',
] as const
type SequenceKey = (typeof SEQUENCE_KEYS)[number]

export function defineSequenceScript<const Key extends string = never>(name: string, keys: readonly Key[] = []) {
  return defineScript<SequenceKey | Key>({
    folder: import.meta.dirname,
    name,
    keys: [...SEQUENCE_KEYS, ...keys],
    constants: {
      LIMITS,
      RUN: runRecord.constants,
      BACKLOG: backlogRecord.constants,
      ISSUED: {
        positions_per_chunk: POSITIONS_PER_CHUNK,
        record_bytes: RECORD_BYTES,
        no_item: NO_ITEM,
        steps_per_chunk: STEPS_PER_CHUNK,
      },
    },
  })
}

/** Lists the keys that scripts are called with. `states` are those of the open positions or of the requested ones. */
export function listScriptKeys(
  all: AllRunKeys,
  { name, epoch }: Pick<StoredRun, 'name' | 'epoch'>,
  scope: 'open' | 'requested' = 'open',
): RunKeys & { states: string } {
  const keys = all.forRun(name, epoch)
  return { ...keys, states: scope === 'open' ? keys.positionStates : keys.requestedPositions }
}
