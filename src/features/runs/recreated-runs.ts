/**
 * Detects runs that Redis has lost and that were recreated. If a process knows a run that was not deleted, and now meets another
 * incarnation that no client configured, it marks the run, so that every process shows it.
 */
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import { DELETED_RUN_TTL_MS, type RunRepository, type StoredRun } from './repository.ts'

const KNOWN_RUNS = 10_000

interface RecreatedRunsDeps {
  repository: Pick<RunRepository, 'wasDeleted' | 'markRecreated'>
  log: Pick<Logger, 'warn'>
}

export class RecreatedRuns {
  readonly #deps: RecreatedRunsDeps
  /** Incarnations by the name of their run. A deleted one is forgotten here before its deletion is forgotten in Redis. */
  readonly #known = new LRUCache<string, string>({ max: KNOWN_RUNS, ttl: DELETED_RUN_TTL_MS / 2 })

  constructor(deps: RecreatedRunsDeps) {
    this.#deps = deps
  }

  /** The run as it was read, marked if it was recreated since this process last read it. */
  async observe(run: StoredRun): Promise<StoredRun> {
    const known = this.#known.get(run.name)
    const isOther = known !== undefined && known !== run.uuid
    const observed = isOther ? await this.#compare(run, known).catch(() => undefined) : run
    if (!observed) return run // a full Redis takes no mark, but the run can be read; it is compared again next time
    this.#known.set(run.name, run.uuid)
    return observed
  }

  async #compare(run: StoredRun, known: string): Promise<StoredRun> {
    const { repository, log } = this.#deps
    if (run.isConfigured || (await repository.wasDeleted(known))) return run
    const { isNew, recreatedAt } = await repository.markRecreated(run, fleetNow())
    if (isNew) {
      log.warn(
        { run: run.name, incarnation: run.uuid, lost_incarnation: known },
        'Redis has lost this run, and a call recreated it with the default settings: restore a checkpoint or PUT its settings',
      )
    }
    return { ...run, recreatedAt }
  }
}
