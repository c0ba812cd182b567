/** For the sweeps that visit many runs: one that fails, because something in Redis is damaged, does not keep the others waiting. */
import { isTemporaryFailure } from '@reasoning-gym-server/contract/errors'
import pMap from 'p-map'
import type { Logger } from 'pino'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'

interface SweepOptions {
  /** Default: one after another. */
  concurrency?: number
}

/** Entries are names of runs, or say what they are. Rejects if Redis fails, which it does for all entries alike. */
export async function sweepEach<T extends string | object>(
  log: Logger,
  entries: readonly T[],
  sweep: (entry: T) => Promise<unknown>,
  { concurrency = 1 }: SweepOptions = {},
): Promise<void> {
  const visit = async (entry: T) => {
    try {
      await sweep(entry)
    } catch (err) {
      if (isTemporaryFailure(translateRedisError(err))) throw err
      const fields: object = typeof entry === 'string' ? { run: entry } : entry
      log.warn({ err, ...fields }, 'an entry could not be swept; the next sweep retries')
    }
  }
  await pMap(entries, visit, { concurrency })
}
