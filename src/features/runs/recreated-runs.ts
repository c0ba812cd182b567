/**
 * Detects runs that Redis lost and that were created again. If a process that knows a run by name finds another
 * incarnation that is not configured, although the first one was not deleted, it marks the run, so that every process
 * shows it.
 */
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { DELETED_RUN_TTL_MS, type RunRepository } from './repository.ts'
import type { StoredRun } from './types.ts'

const KNOWN_RUNS = 10_000

interface RecreatedRunsDeps {
  repository: Pick<RunRepository, 'wasDeleted' | 'markRecreated'>
  log: Pick<Logger, 'warn'>
}

export class RecreatedRuns {
  readonly #deps: RecreatedRunsDeps
  /** Incarnations by run name. An entry expires here before Redis forgets the deletion of its run. */
  readonly #known = new LRUCache<string, string>({ max: KNOWN_RUNS, ttl: DELETED_RUN_TTL_MS / 2 })

  constructor(deps: RecreatedRunsDeps) {
    this.#deps = deps
  }

  /** Returns the run as read, marked if it was created again since this process last read it. */
  async observe(run: StoredRun): Promise<StoredRun> {
    const known = this.#known.get(run.name)
    const isOther = known !== undefined && known !== run.incarnation
    const observed = isOther ? await this.#compare(run, known).catch(() => undefined) : run
    if (!observed) return run // a full Redis rejects the mark, but the run can be read and is compared again next time
    this.#known.set(run.name, run.incarnation)
    return observed
  }

  async #compare(run: StoredRun, known: string): Promise<StoredRun> {
    const { repository, log } = this.#deps
    if (run.isConfigured || (await repository.wasDeleted(known))) return run
    const { isNew, recreatedAt } = await repository.markRecreated(run, redisNow())
    if (isNew) {
      log.warn(
        { run: run.name, incarnation: run.incarnation, lost_incarnation: known },
        'Redis has lost this run, and a call recreated it with the default settings: restore a checkpoint or PUT its settings',
      )
    }
    return { ...run, recreatedAt }
  }
}
