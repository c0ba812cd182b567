/** Runs in Redis: settings, counters, and the positions that were handed out. */
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { CurriculumPoint, type FrontierEstimate, type RunSettings, type SettingsChange } from '../../contract/run.ts'
import { mean } from '../../grading/statistics.ts'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { createEpoch } from './epoch-repository.ts'
import type { StoredFrontier } from './frontier/fold.ts'
import { formatFrontiers } from './frontier/stored-frontiers.ts'
import { type GroupOutcome, unpackWindows } from './group-outcome.ts'
import { type AllRunKeys, createRunKeys } from './keys.ts'
import { backlogRecord, CurriculumState, type RunValues, runRecord } from './run-record.ts'
import { type NumberedEvidence, parseEvidenceList } from './sequence/learnability.ts'

const changeSettings = defineScript({
  folder: import.meta.dirname,
  name: 'update-run-settings',
  keys: [
    'run',
    'openPositions',
    'positionStates',
    'itemBodies',
    'leaseExpiries',
    'leasedItems',
    'requestedPositions',
    'issuedItems',
    'issuedTasks',
    'stepPositions',
    'questions',
    'discardedEpochs',
    'curriculum',
    'frontierWeights',
  ],
  constants: { RUN: runRecord.constants },
})

const markRecreated = defineScript({
  folder: import.meta.dirname,
  name: 'mark-run-recreated',
  keys: ['run'],
  constants: { RUN: runRecord.constants },
})

/** How long Redis remembers that a run was deleted. */
export const DELETED_RUN_TTL_MS = 2 * 24 * 60 * 60 * 1000

/** The numbers of a run, by field. */
export type RunCounters = Omit<
  RunValues,
  'uuid' | 'epoch' | 'revision' | 'created_at' | 'configured_at' | 'recreated_at' | 'settings'
>

/** A run as it is stored. */
export interface StoredRun {
  name: string
  epoch: number
  revision: number
  /** Its incarnation: tells it from other runs that had or will have its name. */
  uuid: string
  /** When it was created, ms. */
  created: number
  /** Whether a client put its settings or restored it. Otherwise its first use created it. */
  isConfigured: boolean
  /** When a process noticed that Redis had lost the run and that it was recreated, in ms. */
  recreatedAt: number | undefined
  explicitSettings: SettingsChange
  counters: RunCounters
}

/** Where the curriculum of a task stands. */
export interface CurriculumLevel {
  difficulty: number
  /** None before a group has counted. */
  accuracy: number | undefined
  /** If the level was last moved under `frontier`. */
  frontier: FrontierEstimate | undefined
}

/** What a change of settings does besides. */
export interface SettingsUpdate {
  /** Restarts the sequence. */
  restart: boolean
  /** Makes the prefetched items again. */
  remake: boolean
  /** Records that a client put the settings. */
  configures?: boolean
  /** Where tasks start that no group has moved. */
  start?: ReadonlyMap<string, StoredFrontier> | undefined
}

/** What waits in a run. */
export interface RunBacklog {
  /** Groups that are not scored yet; `forBuffer` of them will wait for a trainer. */
  queuedGroups: number
  queuedForBuffer: number
  bufferedGroups: number
  /** Groups whose samples adapters are gathering. */
  openGroups: number
  /** Groups in batches that are not acknowledged. */
  openBatchGroups: number
  /** Rollouts that will wait for a trainer once they are scored. */
  queuedRollouts: number
  /** Rollouts in the buffer, and those of them that are scored. */
  bufferedRollouts: number
  bufferedScoredRollouts: number
  /** Of the payload of all these. */
  bytes: number
}

/** Buffered rollouts that count toward `batch_size`: all, or only the scored ones if a batch leaves the others out. */
export function countBatchableRollouts(
  { bufferedRollouts, bufferedScoredRollouts }: Pick<RunBacklog, 'bufferedRollouts' | 'bufferedScoredRollouts'>,
  { unscored_rollouts }: Pick<RunSettings, 'unscored_rollouts'>,
): number {
  return unscored_rollouts === 'omit' ? bufferedScoredRollouts : bufferedRollouts
}

/** Groups that `buffer_max_groups` counts: queued for the buffer, buffered, and in open batches. */
export function countBufferOccupancy({
  queuedForBuffer: forBuffer,
  bufferedGroups: buffered,
  openBatchGroups: open,
}: RunBacklog): number {
  return forBuffer + buffered + open
}

export class RunRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
  }

  async get(name: string): Promise<StoredRun | undefined> {
    const fields = await this.#redis.hgetall(this.#keys.run(name))
    if (fields[runRecord.constants.revision] === undefined) return undefined
    const {
      uuid = '',
      epoch = 0,
      revision = 0,
      created_at: created = 0,
      configured_at,
      recreated_at: recreatedAt,
      settings: explicitSettings = {},
      ...counters
    } = runRecord.parse(fields)
    const isConfigured = configured_at !== undefined
    return { name, epoch, revision, uuid, created, isConfigured, recreatedAt, explicitSettings, counters }
  }

  /** False if the run has changed since `before` (undefined: since it did not exist). */
  async updateSettings(
    name: string,
    before: StoredRun | undefined,
    named: SettingsChange,
    update: SettingsUpdate,
  ): Promise<boolean> {
    if (!before) await this.register(name) // first: a run that is not listed would never be swept
    let done = await this.#changeSettings({ name, epoch: before?.epoch ?? createEpoch() }, before, named, update)
    if (done < 0) done = await this.#changeSettings({ name, epoch: -done }, before, named, update)
    if (done > 0 && !before) await this.register(name) // again: a sweep may have found the name unused
    return done > 0
  }

  /** As the script says. */
  async #changeSettings(
    { name, epoch }: Pick<StoredRun, 'name' | 'epoch'>,
    before: StoredRun | undefined,
    named: SettingsChange,
    { restart, remake, configures, start }: SettingsUpdate,
  ): Promise<number> {
    const keys = this.#keys.forRun(name, epoch)
    const discardedEpochs = this.#keys.discardedEpochs(name)
    return Number(
      await changeSettings(this.#redis, { ...keys, discardedEpochs }, [
        before?.revision ?? 0,
        JSON.stringify(named),
        fleetNow(),
        randomUUID(),
        restart ? '1' : '0',
        remake ? '1' : '0',
        epoch,
        configures ? '1' : '0',
        start ? JSON.stringify(formatFrontiers(start)) : '',
      ]),
    )
  }

  /** Puts a name on the list of those that runs may have. */
  async register(name: string): Promise<void> {
    await this.#redis.sadd(this.#keys.runs, name)
  }

  /** Names of runs; and of some that are gone. */
  listNames(): Promise<string[]> {
    return this.#redis.smembers(this.#keys.runs)
  }

  /** Groups that wait: for a worker, for a trainer, for an acknowledgement; and the rollouts of those. */
  async readBacklog({ name, epoch }: StoredRun): Promise<RunBacklog> {
    const keys = this.#keys.forRun(name, epoch)
    const [queuedGroups, bufferedGroups, openGroups, hash] = await Promise.all([
      this.#redis.zcard(keys.pendingGroups),
      this.#redis.zcard(keys.buffer),
      this.#redis.zcard(keys.openGroups),
      this.#redis.hgetall(keys.backlog),
    ])
    const backlog = backlogRecord.parse(hash)
    return {
      queuedGroups,
      bufferedGroups,
      openGroups,
      openBatchGroups: backlog.open_batch_groups ?? 0,
      queuedForBuffer: backlog.queued_groups ?? 0,
      queuedRollouts: backlog.queued_rollouts ?? 0,
      bufferedRollouts: backlog.buffered_rollouts ?? 0,
      bufferedScoredRollouts: backlog.buffered_scored_rollouts ?? 0,
      bytes: backlog.bytes ?? 0,
    }
  }

  /** Share of right rollouts in the last groups of each task. */
  async readRecentAccuracies({ name, epoch }: StoredRun): Promise<Record<string, number>> {
    const texts = await this.#redis.hgetall(this.#keys.forRun(name, epoch).recentAccuracies)
    return Object.fromEntries(Object.entries(texts).map(([task, text]) => [task, mean(text.split(',').map(Number))]))
  }

  /** The outcomes of the last groups of each task, oldest first. */
  async readRecentOutcomes({ name, epoch }: StoredRun): Promise<Record<string, GroupOutcome[]>> {
    const windows = await this.#redis.hgetallBuffer(this.#keys.forRun(name, epoch).recentOutcomes)
    return unpackWindows(windows)
  }

  /** What the last groups of each task tell the sampling. */
  async readLearnability({ name, epoch }: StoredRun): Promise<Record<string, NumberedEvidence[]>> {
    const texts = await this.#redis.hgetall(this.#keys.forRun(name, epoch).learnability)
    return Object.fromEntries(Object.entries(texts).map(([task, text]) => [task, parseEvidenceList(text)]))
  }

  /** Where the curriculum stands, for each task that has fed it. */
  async readCurriculumLevels({ name, epoch }: StoredRun): Promise<Record<string, CurriculumLevel>> {
    const states = await this.#redis.hgetall(this.#keys.forRun(name, epoch).curriculum)
    return Object.fromEntries(
      Object.entries(states).map(([task, text]) => {
        const { level, accuracy, frontier } = CurriculumState.parse(JSON.parse(text))
        return [task, { difficulty: level, accuracy, frontier }]
      }),
    )
  }

  /** What fed the curriculum, oldest first. */
  async readCurriculumHistory({ name, epoch }: StoredRun): Promise<CurriculumPoint[]> {
    const points = await this.#redis.lrange(this.#keys.forRun(name, epoch).curriculumHistory, 0, -1)
    return points.toReversed().map((json) => CurriculumPoint.parse(JSON.parse(json)))
  }

  /** Steps that have figures, in order. */
  async listMetricSteps({ name, epoch }: StoredRun, from: number, to: number): Promise<number[]> {
    return (await this.#redis.zrangebyscore(this.#keys.forRun(name, epoch).metricSteps, from, to)).map(Number)
  }

  async readMetricSums({ name, epoch }: StoredRun, step: number): Promise<Record<string, number>> {
    const sums = await this.#redis.hgetall(this.#keys.forRun(name, epoch).metricSums(step))
    return mapToNumbers(sums)
  }

  /** `isNew`: no process had noticed before. There is no time if the run is another one, or has been configured since. */
  async markRecreated(
    { name, uuid }: StoredRun,
    now: number,
  ): Promise<{ isNew: boolean; recreatedAt: number | undefined }> {
    const reply = await markRecreated(this.#redis, { run: this.#keys.run(name) }, [uuid, now])
    const [isNew, time] = reply as [number, string] // as the script says
    return { isNew: isNew === 1, recreatedAt: time === '' ? undefined : Number(time) }
  }

  /** Remembers that a run was deleted, and not lost. */
  async recordDeletion({ uuid }: StoredRun, now = fleetNow()): Promise<void> {
    const { deletedRuns } = this.#keys
    await this.#redis.zadd(deletedRuns, now, uuid)
    await this.#redis.zremrangebyscore(deletedRuns, '-inf', now - DELETED_RUN_TTL_MS)
    await this.#redis.pexpire(deletedRuns, DELETED_RUN_TTL_MS)
  }

  async wasDeleted(uuid: string): Promise<boolean> {
    return (await this.#redis.zscore(this.#keys.deletedRuns, uuid)) !== null
  }

  /** Sums per task: `{ leg_counting: { groups: 3, score: 1.5, … } }`. */
  async readTaskSums({ name, epoch }: StoredRun): Promise<Record<string, Record<string, number>>> {
    const hash = await this.#redis.hgetall(this.#keys.forRun(name, epoch).taskSums)
    const sums = Object.entries(groupFieldsByTask(hash))
    return Object.fromEntries(sums.map(([task, fields]) => [task, mapToNumbers(fields)]))
  }
}

/** The fields of each task from a hash of `TASK:FIELD`. */
export function groupFieldsByTask(hash: Record<string, string>): Record<string, Record<string, string>> {
  const tasks: Record<string, Record<string, string>> = {}
  for (const [field, value] of Object.entries(hash)) {
    const colon = field.indexOf(':')
    const task = field.slice(0, colon)
    tasks[task] = { ...tasks[task], [field.slice(colon + 1)]: value }
  }
  return tasks
}

function mapToNumbers(fields: Record<string, string>): Record<string, number> {
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, Number(value)]))
}
