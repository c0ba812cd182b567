/** For the sweeps that visit many runs: one that fails, because something in Redis is damaged, does not keep the others waiting. */
import { isTemporaryFailure } from '@reasoning-gym-server/contract/errors'
import type { Logger } from 'pino'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'

/** Rejects if Redis fails, which it does for all runs alike. */
export async function sweepEach(
  log: Logger,
  names: readonly string[],
  sweep: (name: string) => Promise<void>,
): Promise<void> {
  for (const name of names) {
    try {
      await sweep(name)
    } catch (err) {
      if (isTemporaryFailure(translateRedisError(err))) throw err
      log.warn({ err, run: name }, 'a run could not be swept; the next sweep retries')
    }
  }
}
