/** The pages of `GET /runs`: summaries of runs, by name or most recently used first. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { RunOrder, RunPage, RunSummary, RunWarning } from '@reasoning-gym-server/contract/run'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import pMap from 'p-map'
import type { Engine } from '../../engine/engine.ts'
import { meanOfSum } from '../../grading/statistics.ts'
import { tryReadFrom } from '../../platform/redis/unreadable-entries.ts'
import { diagnoseTasks, listWarnings } from './diagnosis/diagnosis.ts'
import { listSampleWarnings } from './diagnosis/sample-warnings.ts'
import type { MetricsRepository } from './metrics.ts'
import type { RunRepository } from './repository.ts'
import { CONCURRENT_RUN_READS, type RunIndex } from './run-index.ts'
import { computeRunState, dependsOnOutcomes } from './run-state.ts'
import type { Runs } from './runs.ts'
import type { TaskStatistics } from './task-statistics.ts'
import type { ResolvedRun } from './types.ts'

/** Number of runs that one call reads. If few of them are in the list, a cursor continues. */
const MAX_EXAMINED = 500
const READ_CHUNK_SIZE = 50
/** Number of runs whose latest figures are remembered. */
const MAX_KNOWN_RUNS = 2000
const RECENT_STEPS = 10

/** What the latest groups of a run show. */
interface LatestFigures {
  /** Number of completed groups when this was computed. */
  completed: number | undefined
  warnings: RunWarning[]
  reward: number | null
}

interface RunPagesDeps {
  redis: Redis
  runs: Pick<Runs, 'get'>
  index: Pick<RunIndex, 'listNames' | 'listByActivity'>
  repository: RunRepository
  taskStatistics: TaskStatistics
  metrics: Pick<MetricsRepository, 'readRecentRewards'>
  engine: Pick<Engine, 'health'>
}

interface RunPageQuery {
  sort: RunOrder
  cursor?: string | undefined
  limit: number
  /** Whether archived runs are in the list. */
  archived: boolean
}

interface ListedName {
  name: string
  /** Continues after this name. */
  cursor: string
}

export class RunPages {
  readonly #deps: RunPagesDeps
  readonly #latest = new LRUCache<string, LatestFigures>({ max: MAX_KNOWN_RUNS })

  constructor(deps: RunPagesDeps) {
    this.#deps = deps
  }

  /** Reads a page of the runs whose names `isVisible` accepts. Throws `invalid_request` for a cursor of another order. */
  async get(isVisible: (name: string) => boolean, { sort, cursor, limit, archived }: RunPageQuery): Promise<RunPage> {
    const names = (await this.#listNames(sort, cursor)).filter(({ name }) => isVisible(name))
    const page: ResolvedRun[] = []
    let examined = 0
    while (page.length < limit && examined < Math.min(names.length, MAX_EXAMINED)) {
      const chunk = names.slice(examined, examined + Math.min(READ_CHUNK_SIZE, limit - page.length))
      const runs = await this.#map(chunk, ({ name }) => this.#deps.runs.get(name))
      page.push(...runs.filter((run) => archived || run.lifecycle !== 'archived'))
      examined += chunk.length
    }
    return {
      runs: await this.#map(page, (run) => this.#summarize(run)),
      next_cursor: examined < names.length ? (names[examined - 1]?.cursor ?? null) : null,
    }
  }

  /** Lists the names after the cursor. */
  async #listNames(sort: RunOrder, cursor: string | undefined): Promise<ListedName[]> {
    const last = cursor === undefined ? undefined : parseCursor(cursor)
    if (last && (last.usedAt === undefined) !== (sort === 'name')) {
      throw new ServiceError('invalid_request', 'The cursor belongs to another order. Start again without a cursor.')
    }
    if (sort === 'name') {
      const names = (await this.#deps.index.listNames()).toSorted()
      return names.filter((name) => !last || name > last.name).map((name) => ({ name, cursor: name }))
    }
    const isAfter = (name: string, usedAt: number) =>
      last?.usedAt === undefined || usedAt < last.usedAt || (usedAt === last.usedAt && name > last.name)
    return (await this.#deps.index.listByActivity())
      .filter(({ name, usedAt }) => isAfter(name, usedAt))
      .map(({ name, usedAt }) => ({ name, cursor: `${usedAt}~${name}` }))
  }

  /** Leaves out runs that are gone, or that cannot be read. */
  async #map<A extends { name: string }, B>(
    list: readonly A[],
    convert: (entry: A) => Promise<B | undefined>,
  ): Promise<B[]> {
    const tryConvert = (entry: A) =>
      tryReadFrom(this.#deps.redis, { key: 'runs', name: entry.name }, () => convert(entry))
    const results = await pMap(list, tryConvert, { concurrency: CONCURRENT_RUN_READS })
    return results.filter((result) => result !== undefined)
  }

  async #summarize(run: ResolvedRun): Promise<RunSummary> {
    const { repository, taskStatistics, engine } = this.#deps
    const health = engine.health()
    const [backlog, tasks] = await Promise.all([repository.readBacklog(run), repository.listScoredTasks(run)])
    const isOpen = dependsOnOutcomes(run, { backlog, engine: health })
    const outcomes = isOpen ? await taskStatistics.readRecentOutcomes(run) : {}
    const latest = await this.#readLatest(run)
    const warnings = [...latest.warnings, ...listSampleWarnings(backlog.groupSizes, run.settings.group_size)]
    const { items = 0, groups = 0, rollouts = 0, scored_groups = 0, failed_groups = 0, step = null } = run.counters
    const { reward = 0, scored_rollouts = 0, last_scored_at } = run.counters
    return {
      run: run.name,
      incarnation: run.incarnation,
      state: computeRunState(run, { backlog, engine: health, outcomes, warnings }),
      lifecycle: run.lifecycle,
      preset: run.settings.preset,
      progress: {
        items,
        groups,
        rollouts,
        scored_groups,
        failed_groups,
        queued_groups: backlog.queuedGroups,
        open_groups: backlog.openGroups,
        buffered_groups: backlog.bufferedGroups,
        step,
      },
      tasks,
      tags: run.settings.tags,
      mean_reward: meanOfSum(reward, scored_rollouts),
      recent_reward: latest.reward,
      last_scored_at: last_scored_at === undefined ? null : new Date(last_scored_at).toISOString(),
      warnings: warnings.length,
      warning: warnings[0] ?? null,
    }
  }

  /** Those of a run that no longer moves are computed once. */
  async #readLatest(run: ResolvedRun): Promise<LatestFigures> {
    const { incarnation, epoch, revision, counters } = run
    const key = `${incarnation}/${epoch}/${revision}`
    const known = this.#latest.get(key)
    if (known && known.completed === counters.completed) return known
    const { taskStatistics, metrics } = this.#deps
    const [outcomes, { reward, rollouts }] = await Promise.all([
      taskStatistics.readRecentOutcomes(run),
      metrics.readRecentRewards(run, RECENT_STEPS),
    ])
    const warnings = listWarnings(outcomes, run.settings, diagnoseTasks(outcomes))
    const latest = { completed: counters.completed, warnings, reward: meanOfSum(reward, rollouts) }
    this.#latest.set(key, latest)
    return latest
  }
}

/** `NAME`, or `TIME~NAME` in the order of activity. */
function parseCursor(cursor: string): { name: string; usedAt: number | undefined } {
  const [time, name] = cursor.split('~')
  return name === undefined ? { name: cursor, usedAt: undefined } : { name, usedAt: Number(time) }
}
