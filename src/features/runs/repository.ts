/** Runs in Redis: settings, counters and curriculum. */
import { randomUUID } from 'node:crypto'
import { CurriculumPoint, type FrontierEstimate } from '@reasoning-gym-server/contract/run'
import { type RunLifecycle, RunMix } from '@reasoning-gym-server/contract/run-control'
import type { RunSettings, SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import pMap from 'p-map'
import type { z } from 'zod'
import { mean } from '../../grading/statistics.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { tryRead } from '../../platform/redis/unreadable-entries.ts'
import { formatFrontiers, type StoredFrontier } from './curriculum/frontier-store.ts'
import {
  type AllRunKeys,
  backlogRecord,
  CurriculumState,
  createEpoch,
  createRunKeys,
  groupSizesRecord,
  MAX_MIXES,
  runRecord,
  STATE_CONSTANTS,
} from './records.ts'
import { CONCURRENT_RUN_READS, RunIndex } from './run-index.ts'
import { type NumberedEvidence, parseEvidenceList } from './sequence/learnability.ts'
import type { StoredRun } from './types.ts'

const changeSettings = defineScript(import.meta.dirname, 'update-run-settings', {
  RUN: runRecord.constants,
  LIMITS: { mixes: MAX_MIXES },
  STATE: STATE_CONSTANTS,
})

const markRecreated = defineScript(import.meta.dirname, 'mark-run-recreated', { RUN: runRecord.constants })

const resetCurriculum = defineScript(import.meta.dirname, 'reset-curriculum', { RUN: runRecord.constants })

const endStep = defineScript(import.meta.dirname, 'end-step', { RUN: runRecord.constants, STATE: STATE_CONSTANTS })

const changeLifecycle = defineScript(import.meta.dirname, 'change-run-lifecycle', { RUN: runRecord.constants })

/** Texts of the evidence of a task that are remembered with what they say. */
const PARSED_EVIDENCE = 1000

/** How long Redis remembers that a run was deleted, in milliseconds. */
export const DELETED_RUN_TTL_MS = 2 * 24 * 60 * 60 * 1000

/** The current level of a task's curriculum. */
export interface CurriculumLevel {
  difficulty: number
  /** Undefined before a group has counted. */
  accuracy: number | undefined
  /** Defined if the level was last moved under `frontier`. */
  frontier: FrontierEstimate | undefined
}

interface SettingsUpdate {
  restart: boolean
  /** Makes the prefetched items again, and those that are requested and not issued. */
  remake: boolean
  /** New mix of tasks from the next position on. A new run must have one. */
  mix?: Pick<RunSettings, 'tasks' | 'exclude'> | undefined
  /** Records that a call put the settings. */
  configures?: boolean
  /** Frontiers at which tasks start that no group has moved. */
  start?: ReadonlyMap<string, StoredFrontier> | undefined
}

/** The backlog of a run: groups and rollouts that wait, and their size. */
export type RunBacklog = Awaited<ReturnType<RunRepository['readBacklog']>>

/**
 * Counts the buffered rollouts that count toward `batch_size`: all of them, or only scored ones if batches leave out
 * the rest.
 */
export function countBatchableRollouts(
  { bufferedRollouts, bufferedScoredRollouts }: Pick<RunBacklog, 'bufferedRollouts' | 'bufferedScoredRollouts'>,
  { unscored_rollouts }: Pick<RunSettings, 'unscored_rollouts'>,
): number {
  return unscored_rollouts === 'omit' ? bufferedScoredRollouts : bufferedRollouts
}

/** Counts the groups that `buffer_max_groups` limits: queued for the buffer, buffered, and in open batches. */
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
  readonly #index: RunIndex
  /** Few of a run's tasks have other evidence when it is read again. */
  readonly #parsedEvidence = new LRUCache<string, NumberedEvidence[]>({ max: PARSED_EVIDENCE })

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
    this.#index = new RunIndex(redis, keys)
  }

  async get(name: string): Promise<StoredRun | undefined> {
    const fields = await this.#redis.hgetall(this.#keys.run(name))
    if (fields[runRecord.constants.revision] === undefined) return undefined
    const {
      incarnation = '',
      epoch = 0,
      revision = 0,
      created_at: created = 0,
      configured_at,
      recreated_at: recreatedAt,
      settings: explicitSettings = {},
      lifecycle: storedLifecycle,
      lifecycle_at,
      forked_from: forkedFrom,
      steps_named_by: _source,
      resume_id: _resume,
      ...counters
    } = runRecord.parse(fields)
    // rollouts make the run active again, without a write on their way
    const isUsed = (counters.last_accepted_at ?? 0) > (lifecycle_at ?? 0)
    const lifecycle = storedLifecycle === undefined || isUsed ? 'active' : storedLifecycle
    const lifecycleAt = lifecycle === 'active' ? undefined : lifecycle_at
    const isConfigured = configured_at !== undefined
    return {
      name,
      epoch,
      revision,
      incarnation,
      created,
      isConfigured,
      recreatedAt,
      lifecycle,
      lifecycleAt,
      forkedFrom,
      explicitSettings,
      counters,
    }
  }

  /** Returns false if another call changed the run since `before` was read (undefined: the run did not exist). */
  async updateSettings(
    name: string,
    before: StoredRun | undefined,
    named: SettingsChange,
    update: SettingsUpdate,
  ): Promise<boolean> {
    if (!before) await this.#index.register(name) // must come first: a sweep would never find an unlisted run
    let done = await this.#changeSettings({ name, epoch: before?.epoch ?? createEpoch() }, before, named, update)
    if (done < 0) done = await this.#changeSettings({ name, epoch: -done }, before, named, update)
    // registers again, because a sweep may have removed the unused name
    if (done > 0 && !before) await this.#index.register(name)
    return done > 0
  }

  async #changeSettings(
    { name, epoch }: Pick<StoredRun, 'name' | 'epoch'>,
    before: StoredRun | undefined,
    named: SettingsChange,
    { restart, remake, mix, configures, start }: SettingsUpdate,
  ): Promise<number> {
    const keys = this.#keys.forRun(name, epoch)
    const discardedEpochs = this.#keys.discardedEpochs(name)
    const now = redisNow()
    const change = {
      based_on: before?.revision ?? 0,
      settings: JSON.stringify(named),
      now,
      incarnation: randomUUID(),
      restart,
      remake,
      mix: mix && JSON.stringify({ at: new Date(now).toISOString(), ...mix }),
      epoch: String(epoch),
      configures: configures ?? false,
      start: start && formatFrontiers(start),
    }
    return Number(await changeSettings(this.#redis, { ...keys, discardedEpochs }, [JSON.stringify(change)]))
  }

  /** Returns false if another run has the name now. */
  async changeLifecycle({ name, incarnation }: StoredRun, lifecycle: RunLifecycle, now = redisNow()): Promise<boolean> {
    const stored = lifecycle === 'active' ? '' : lifecycle
    return (await changeLifecycle(this.#redis, { run: this.#keys.run(name) }, [incarnation, stored, now])) === 1
  }

  /** Returns false if the run was deleted or restored since it was read. */
  async resetCurriculum({ name, incarnation, epoch }: StoredRun, now = redisNow()): Promise<boolean> {
    return (await resetCurriculum(this.#redis, this.#keys.forRun(name, epoch), [incarnation, epoch, now])) === 1
  }

  /** Records the state of the run as that after a step. Returns false if the run was deleted or restored since it was read. */
  async endStep({ name, epoch }: StoredRun, step: number): Promise<boolean> {
    return (await endStep(this.#redis, this.#keys.forRun(name, epoch), [epoch, step, redisNow()])) === 1
  }

  /** Lists the forks of a run that exist, oldest first. */
  async listForks({ name, epoch }: StoredRun): Promise<string[]> {
    const names = await this.#redis.zrange(this.#keys.forRun(name, epoch).forks, '0', '-1')
    const forks = await pMap(names, (fork) => this.get(fork), { concurrency: CONCURRENT_RUN_READS })
    return names.filter((_, k) => forks[k]?.forkedFrom?.run === name)
  }

  /** Reads the settings that were put, as JSON; empty if there are none. */
  async readSettingsText(name: string): Promise<string> {
    return (await this.#redis.hget(this.#keys.run(name), runRecord.constants.settings)) ?? ''
  }

  async exists(name: string): Promise<boolean> {
    return (await this.#redis.exists(this.#keys.run(name))) === 1
  }

  /** Reads how many groups wait for a worker, a trainer or an acknowledgement, and how many rollouts they have. */
  async readBacklog({ name, epoch }: StoredRun) {
    const keys = this.#keys.forRun(name, epoch)
    const [queuedGroups, bufferedGroups, openGroups, hash, sizes] = await Promise.all([
      this.#redis.zcard(keys.pendingGroups),
      this.#redis.zcard(keys.buffer),
      this.#redis.zcard(keys.openGroups),
      this.#redis.hgetall(keys.backlog),
      this.#redis.hgetall(keys.groupSizes),
    ])
    const backlog = backlogRecord.parse(hash)
    return {
      /** Number of groups that are not scored yet. Of these, `queuedForBuffer` will wait for a trainer. */
      queuedGroups,
      bufferedGroups,
      /** Number of groups whose samples adapters are collecting. */
      openGroups,
      groupSizes: groupSizesRecord.parse(sizes),
      /** Number of groups in batches that are not acknowledged. */
      openBatchGroups: backlog.open_batch_groups ?? 0,
      queuedForBuffer: backlog.queued_groups ?? 0,
      /** Number of rollouts that will wait for a trainer once they are scored. */
      queuedRollouts: backlog.queued_rollouts ?? 0,
      /** Number of rollouts in the buffer, and how many of them are scored. */
      bufferedRollouts: backlog.buffered_rollouts ?? 0,
      bufferedScoredRollouts: backlog.buffered_scored_rollouts ?? 0,
      /** Payload size of all of these. */
      bytes: backlog.bytes ?? 0,
    }
  }

  /** Number of tasks with different configs of which the run has issued items. */
  async countVariants({ name, epoch }: StoredRun): Promise<number> {
    return this.#redis.llen(this.#keys.forRun(name, epoch).issuedTasks)
  }

  /** Reads the shares of correct rollouts in the last groups of each task. */
  async readRecentAccuracies({ name, epoch }: StoredRun): Promise<Record<string, number>> {
    const texts = await this.#redis.hgetall(this.#keys.forRun(name, epoch).recentAccuracies)
    return Object.fromEntries(Object.entries(texts).map(([task, text]) => [task, mean(text.split(',').map(Number))]))
  }

  /** Lists the tasks of which groups are scored. */
  async listScoredTasks({ name, epoch }: StoredRun): Promise<string[]> {
    return (await this.#redis.hkeys(this.#keys.forRun(name, epoch).taskSums)).toSorted()
  }

  /** Reads the evidence of the last groups of each task for the sampling. */
  async readLearnability({ name, epoch }: StoredRun): Promise<Record<string, NumberedEvidence[]>> {
    const texts = await this.#redis.hgetall(this.#keys.forRun(name, epoch).learnability)
    return Object.fromEntries(
      Object.entries(texts).map(([task, text]) => {
        const evidence = this.#parsedEvidence.get(text) ?? parseEvidenceList(text)
        this.#parsedEvidence.set(text, evidence)
        return [task, evidence]
      }),
    )
  }

  /** Reads the current level of each task that has fed the curriculum. */
  async readCurriculumLevels({ name, epoch }: StoredRun): Promise<Record<string, CurriculumLevel>> {
    const key = this.#keys.forRun(name, epoch).curriculum
    const states = await this.#redis.hgetall(key)
    return Object.fromEntries(
      Object.entries(states).flatMap(([task, text]) => {
        const state = tryRead(this.#redis, { key, name: task }, () => CurriculumState.parse(JSON.parse(text)))
        return state ? [[task, { difficulty: state.level, accuracy: state.accuracy, frontier: state.frontier }]] : []
      }),
    )
  }

  /** Reads the last mixes of tasks, oldest first. */
  async readMixes({ name, epoch }: StoredRun, limit: number): Promise<RunMix[]> {
    const key = this.#keys.forRun(name, epoch).mixes
    return parseEntries(this.#redis, key, await this.#redis.lrange(key, -limit, -1), RunMix)
  }

  /** Reads the points of the curriculum's history, oldest first. */
  async *readCurriculumHistory({ name, epoch }: StoredRun): AsyncGenerator<CurriculumPoint[]> {
    const { curriculumHistory } = this.#keys.forRun(name, epoch)
    yield* readHistoryPages(this.#redis, curriculumHistory, await this.#redis.llen(curriculumHistory))
  }

  /**
   * Marks a run as created again. `isNew` is true if this call marked it first. The time is undefined if another run
   * has the name now or the run was configured in the meantime.
   */
  async markRecreated(
    { name, incarnation }: StoredRun,
    now: number,
  ): Promise<{ isNew: boolean; recreatedAt: number | undefined }> {
    const reply = await markRecreated(this.#redis, { run: this.#keys.run(name) }, [incarnation, now])
    const [isNew, time] = reply as [number, string] // as the script returns them
    return { isNew: isNew === 1, recreatedAt: time === '' ? undefined : Number(time) }
  }

  /** Records that a run was deleted on purpose and not lost. */
  async recordDeletion({ incarnation }: StoredRun, now = redisNow()): Promise<void> {
    const { deletedRuns } = this.#keys
    await this.#redis.zadd(deletedRuns, now, incarnation)
    await this.#redis.zremrangebyscore(deletedRuns, '-inf', now - DELETED_RUN_TTL_MS)
    await this.#redis.pexpire(deletedRuns, DELETED_RUN_TTL_MS)
  }

  async wasDeleted(incarnation: string): Promise<boolean> {
    return (await this.#redis.zscore(this.#keys.deletedRuns, incarnation)) !== null
  }
}

/** Reads mixes as stored, without those that something has damaged. */
/** Parses the JSON entries of a list, without those that cannot be read. */
export function parseEntries<T>(redis: Redis, key: string, texts: string[], schema: z.ZodType<T>): T[] {
  return texts.flatMap(
    (text, k) => tryRead(redis, { key, name: String(k) }, () => schema.parse(JSON.parse(text))) ?? [],
  )
}

const POINTS_PER_PAGE = 1000

/**
 * Reads the oldest `length` points of a history, oldest first. Their places from the end of the list stay the same, unless
 * the history is full and drops points in the meantime.
 */
export async function* readHistoryPages(redis: Redis, key: string, length: number): AsyncGenerator<CurriculumPoint[]> {
  const read = (json: string) => tryRead(redis, { key, name: '' }, () => CurriculumPoint.parse(JSON.parse(json)))
  for (let at = 0; at < length; at += POINTS_PER_PAGE) {
    const page = await redis.lrange(key, -Math.min(at + POINTS_PER_PAGE, length), -at - 1)
    yield page.toReversed().flatMap((json) => read(json) ?? [])
  }
}
