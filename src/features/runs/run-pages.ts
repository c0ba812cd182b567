/** The pages of `GET /runs`: summaries of the runs that match, by name or most recently used first. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { RunOrder, RunPage, RunState, RunSummary, RunWarning } from '@reasoning-gym-server/contract/run'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import pMap from 'p-map'
import type { Engine } from '../../engine/engine.ts'
import { meanOfSum } from '../../grading/statistics.ts'
import { tryReadFrom } from '../../platform/redis/unreadable-entries.ts'
import { diagnoseTasks, listWarnings } from './diagnosis/diagnosis.ts'
import { listSampleWarnings } from './diagnosis/sample-warnings.ts'
import type { MetricsRepository } from './metrics.ts'
import type { RunBacklog, RunRepository } from './repository.ts'
import { CONCURRENT_RUN_READS, type ListedRun, type RunIndex } from './run-index.ts'
import { computeRunState, dependsOnOutcomes } from './run-state.ts'
import type { Runs } from './runs.ts'
import type { TaskStatistics } from './task-statistics.ts'
import type { ResolvedRun } from './types.ts'
import { buildProgressSummary } from './views.ts'

/** Number of runs that one call reads. If few of them are in the list, a cursor continues. */
const MAX_EXAMINED = 500
const READ_CHUNK_SIZE = 50
/** By how much the time of the last use may lag behind: `RunIndex` records it to half a minute. */
const ACTIVITY_ERROR_MS = 60_000
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

/** What a run at rest waits for and has earned. */
interface Standing {
  /** Last use and counters when this was read. */
  version: string
  backlog: RunBacklog
  tasks: Awaited<ReturnType<RunRepository['listScoredTasks']>>
}

interface RunPagesDeps {
  redis: Redis
  runs: Pick<Runs, 'get'>
  index: Pick<RunIndex, 'listByActivity' | 'listArchived' | 'listToSweep'>
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
  /** Words of which each is in the name or the settings. */
  q?: string | undefined
  state?: RunState['is'] | undefined
  has_warnings?: boolean | undefined
}

export class RunPages {
  readonly #deps: RunPagesDeps
  readonly #latest = new LRUCache<string, LatestFigures>({ max: MAX_KNOWN_RUNS })
  readonly #standing = new LRUCache<string, Standing>({ max: MAX_KNOWN_RUNS })

  constructor(deps: RunPagesDeps) {
    this.#deps = deps
  }

  /** Reads a page of the runs whose names `isVisible` accepts. Throws `invalid_request` for a cursor of another order. */
  async get(isVisible: (name: string) => boolean, query: RunPageQuery): Promise<RunPage> {
    const { sort, cursor, limit, archived, q, state, has_warnings } = query
    const isAfter = cursor === undefined ? () => true : parseCursor(cursor, sort)
    const visible = (await this.#deps.index.listByActivity()).filter(({ name }) => isVisible(name))
    const matching = await this.#search(archived ? visible : await this.#omitArchived(visible), q)
    if (sort === 'name') matching.sort((a, b) => (a.name < b.name ? -1 : 1))
    const listed = matching.filter(isAfter)
    const inUse = new Set(await this.#deps.index.listToSweep())
    const chunkSize = state === undefined && has_warnings === undefined ? limit : READ_CHUNK_SIZE
    const runs: RunSummary[] = []
    let examined = 0
    while (runs.length < limit && examined < Math.min(listed.length, MAX_EXAMINED)) {
      const chunk = listed.slice(examined, examined + chunkSize)
      for (const run of await this.#map(chunk, (each) => this.#readIfWanted(each, query, !inUse.has(each.name)))) {
        if (runs.length === limit) break
        examined += 1
        if (run) runs.push(run)
      }
    }
    const last = examined < listed.length ? listed[examined - 1] : undefined
    return { runs, next_cursor: last ? formatCursor(last, sort) : null, total: matching.length }
  }

  /** Reads only archived runs that were used about when they were archived or later: rollouts make them active again. */
  async #omitArchived(listed: ListedRun[]): Promise<ListedRun[]> {
    const archivedAt = await this.#deps.index.listArchived()
    const isInDoubt = ({ name, usedAt }: ListedRun) => usedAt >= (archivedAt.get(name) ?? Infinity) - ACTIVITY_ERROR_MS
    const isReopened = async ({ name }: ListedRun) => (await this.#deps.runs.get(name))?.lifecycle === 'active'
    const reopened = new Set(await this.#filter(listed.filter(isInDoubt), isReopened))
    return listed.filter((run) => !archivedAt.has(run.name) || reopened.has(run))
  }

  async #search(listed: ListedRun[], q = ''): Promise<ListedRun[]> {
    const words = q.toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0) return listed
    const hasAll = (text: string) => words.every((word) => text.toLowerCase().includes(word))
    const { repository } = this.#deps
    return this.#filter(listed, async ({ name }) => hasAll(`${name} ${await repository.readSettingsText(name)}`))
  }

  async #filter(listed: ListedRun[], isWanted: (run: ListedRun) => Promise<boolean>): Promise<ListedRun[]> {
    const wanted = await this.#map(listed, isWanted)
    return listed.filter((_, k) => wanted[k])
  }

  /** Gives undefined for runs that are gone, or that cannot be read. */
  #map<T>(listed: ListedRun[], read: (run: ListedRun) => Promise<T | undefined>): Promise<(T | undefined)[]> {
    const tryRead = (run: ListedRun) => tryReadFrom(this.#deps.redis, { key: 'runs', name: run.name }, () => read(run))
    return pMap(listed, tryRead, { concurrency: CONCURRENT_RUN_READS })
  }

  async #readIfWanted(
    { name, usedAt }: ListedRun,
    { archived, state, has_warnings }: RunPageQuery,
    isAtRest: boolean,
  ): Promise<RunSummary | undefined> {
    const run = await this.#deps.runs.get(name)
    if (!run || (run.lifecycle === 'archived' && !archived)) return undefined
    if (state !== undefined && (state === 'finished') === (run.lifecycle === 'active')) return undefined // unread
    const summary = await this.#summarize(run, await this.#readStanding(run, isAtRest ? usedAt : undefined))
    if (state !== undefined && state !== summary.state.is) return undefined
    return has_warnings === undefined || summary.warnings > 0 === has_warnings ? summary : undefined
  }

  /**
   * `usedAt`: only of a run that no sweep visits. It changes only with its counters or its last use, so that idle runs cost one read.
   */
  async #readStanding(run: ResolvedRun, usedAt: number | undefined): Promise<Standing> {
    const { repository } = this.#deps
    const key = `${run.incarnation}/${run.epoch}`
    const version = JSON.stringify([usedAt, run.counters])
    const known = this.#standing.get(key)
    if (known?.version === version) return known
    const [backlog, tasks] = await Promise.all([repository.readBacklog(run), repository.listScoredTasks(run)])
    const standing = { version, backlog, tasks }
    if (usedAt !== undefined) this.#standing.set(key, standing)
    return standing
  }

  async #summarize(run: ResolvedRun, { backlog, tasks }: Standing): Promise<RunSummary> {
    const { taskStatistics, engine } = this.#deps
    const health = engine.health()
    const isOpen = dependsOnOutcomes(run, { backlog, engine: health })
    const outcomes = isOpen ? await taskStatistics.readRecentOutcomes(run) : {}
    const latest = await this.#readLatest(run)
    const warnings = [...latest.warnings, ...listSampleWarnings(backlog.groupSizes, run.settings.group_size)]
    const { reward = 0, scored_rollouts = 0, last_scored_at } = run.counters
    return {
      run: run.name,
      incarnation: run.incarnation,
      state: computeRunState(run, { backlog, engine: health, outcomes, warnings }),
      lifecycle: run.lifecycle,
      preset: run.settings.preset,
      progress: buildProgressSummary(run, backlog),
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
function formatCursor({ name, usedAt }: ListedRun, sort: RunOrder): string {
  return sort === 'name' ? name : `${usedAt}~${name}`
}

/** Returns what is after the cursor. */
function parseCursor(cursor: string, sort: RunOrder): (run: ListedRun) => boolean {
  const [first = '', second] = cursor.split('~')
  if ((second === undefined) !== (sort === 'name'))
    throw new ServiceError('invalid_request', 'The cursor belongs to another order. Start again without a cursor.')
  if (second === undefined) return ({ name }) => name > first
  const time = Number(first)
  return ({ name, usedAt }) => usedAt < time || (usedAt === time && name > second)
}
