/**
 * Submits closed groups as if a client had posted them. The ID and content of a group are fixed when it is closed, so a
 * second submission, by any process, is a duplicate. A group is removed only after the run has accepted it. The sweep
 * closes idle groups and submits what a process left behind.
 */

import { isTemporaryFailure, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Logger } from 'pino'
import type { MetricsRecorder } from '../../../platform/metrics/metrics-recorder.ts'
import type { Schedule } from '../../../platform/queue/schedules.ts'
import { redisNow } from '../../../platform/redis/redis-clock.ts'
import { translateRedisError } from '../../../platform/redis/redis-errors.ts'
import { splitList } from '../../../platform/split-list.ts'
import { throttledLog } from '../../../platform/throttled-log.ts'
import type { RolloutSubmission } from '../../rollouts/rollout-submission.ts'
import { type RunIndex, sweepEach } from '../../runs/run-index.ts'
import type { Runs } from '../../runs/runs.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import type { ClosedGroup, OpenGroupRepository } from './repository.ts'

interface ClosedGroupSubmissionDeps {
  repository: OpenGroupRepository
  submission: Pick<RolloutSubmission, 'submit'>
  recorder: Pick<MetricsRecorder, 'recordOpenGroup'>
  log: Logger
}

type Outcome = 'submitted' | 'without_buffer' | 'waiting' | 'discarded'

/**
 * Errors that leave a closed group stored until the run's settings are restored, the buffer has room, or the run is
 * deleted with its keys.
 */
const WAITING_CODES: readonly string[] = ['buffer_full', 'run_changed', 'run_recreated', 'unknown_run']

/** Groups that share the scripts and jobs of a post. */
const GROUPS_AT_A_TIME = 16

export class ClosedGroupSubmission {
  readonly #deps: ClosedGroupSubmissionDeps
  readonly #inFlight = new Set<Promise<void>>()
  readonly #logError: (error: unknown) => void

  constructor(deps: ClosedGroupSubmissionDeps) {
    this.#deps = deps
    this.#logError = throttledLog((err) =>
      deps.log.warn({ err }, 'a closed group could not be submitted; the sweeper retries'),
    )
  }

  /** Submits groups, some at a time. Never rejects: the sweep retries groups that fail. */
  async submitAll(run: ResolvedRun, ids: string[]): Promise<void> {
    const work = this.#submitEach(run, ids).catch(this.#logError)
    this.#inFlight.add(work)
    await work.finally(() => this.#inFlight.delete(work))
  }

  async close(): Promise<void> {
    await Promise.all(this.#inFlight)
  }

  async #submitEach(run: ResolvedRun, ids: string[]): Promise<void> {
    for (const some of splitList(ids, GROUPS_AT_A_TIME)) {
      const attempts = some.map((id) => this.#submitOne(run, id))
      await Promise.allSettled(attempts) // no attempt is in flight when this method ends
      // the remaining groups are younger, and each attempt costs as much as a post
      if ((await Promise.all(attempts)).includes('waiting')) return
    }
  }

  /** Returns undefined if the run has accepted the group before. */
  async #submitOne(run: ResolvedRun, id: string): Promise<Outcome | undefined> {
    const { repository, recorder, log } = this.#deps
    const group = await repository.getClosed(run, id)
    if (!group) return undefined
    let outcome: Outcome
    try {
      outcome = await this.#submitWhereRoomIs(run, id, group)
    } catch (cause) {
      const error = translateRedisError(cause)
      if (isTemporaryFailure(error) || !(error instanceof ServiceError) || error.code === 'internal') throw error
      const { itemId, rollouts } = group
      const fields = { run: run.name, group: id, item_id: itemId, rollouts: rollouts.length, code: error.code }
      log.warn(
        { ...fields, detail: error.message },
        'an open group was discarded, because its item can no longer be scored or another group has its ID',
      )
      outcome = 'discarded'
    }
    if (outcome === 'waiting') return outcome
    await repository.removeClosed(run, id)
    recorder.recordOpenGroup(outcome)
    return outcome
  }

  /**
   * A full buffer may delay a group for as long as an open group may take, but must not delay the curriculum for
   * longer.
   */
  async #submitWhereRoomIs(run: ResolvedRun, id: string, group: ClosedGroup): Promise<Outcome> {
    const { forBuffer, closedAt } = group
    const isPatient = redisNow() - closedAt < run.settings.open_group_timeout_s * 1000
    try {
      if (await this.#trySubmit(run, id, group, forBuffer)) return 'submitted'
      if (!forBuffer || isPatient) return 'waiting'
    } catch (error) {
      const mayBeWithoutBuffer = forBuffer && error instanceof ServiceError && error.code === 'group_conflict'
      if (!mayBeWithoutBuffer) throw error
    }
    // A group that another process submitted without the buffer has the same content only if it is submitted like that.
    return (await this.#trySubmit(run, id, group, false)) ? 'without_buffer' : 'waiting'
  }

  async #trySubmit(
    run: ResolvedRun,
    id: string,
    { itemId, rollouts, known }: ClosedGroup,
    buffer: boolean,
  ): Promise<boolean> {
    const { name, incarnation } = run
    try {
      const group = { item_id: itemId, group_id: id, rollouts, known, buffer }
      await this.#deps.submission.submit(name, [group], { condition: [incarnation], gatheredIn: run })
      return true
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      if (WAITING_CODES.includes(error.code)) return false
      throw error
    }
  }
}

/** Closes idle groups and finishes the work of processes that were killed. */
export const sweepOpenGroupsSchedule: Schedule = { name: 'sweep-open-groups', everyMs: 5_000 }

/** Longer than any response takes after its samples are recorded, which is the last step before it is sent. */
const ABANDONED_AFTER_MS = 60_000
/** After a restart of the whole server, retries have a minute to come before a sample of the time before it counts. */
export const chooseSweepAges = (uptimeS = process.uptime()): SweepAges => ({
  abandonedMs: uptimeS * 1000 < ABANDONED_AFTER_MS ? Number.MAX_SAFE_INTEGER : ABANDONED_AFTER_MS,
  leftMs: LEFT_AFTER_MS,
})

/** Age at which the sweep submits a closed group. The process that closes a group normally submits it at once. */
const LEFT_AFTER_MS = 3000
const MAX_GROUPS_PER_RUN = 1000

interface SweepOpenGroupsDeps {
  runs: Pick<Runs, 'get'>
  index: Pick<RunIndex, 'listToSweep'>
  repository: OpenGroupRepository
  submission: ClosedGroupSubmission
  log: Logger
}

export interface SweepAges {
  abandonedMs: number
  leftMs: number
}

export async function sweepOpenGroups(deps: SweepOpenGroupsDeps, ages = chooseSweepAges()): Promise<void> {
  await sweepEach(deps.log, await deps.index.listToSweep(), async (name) => {
    const run = await deps.runs.get(name)
    if (run) await sweepRun(deps, run, ages)
  })
}

async function sweepRun(
  { repository, submission }: SweepOpenGroupsDeps,
  run: ResolvedRun,
  { abandonedMs, leftMs }: SweepAges,
): Promise<void> {
  const written = await repository.write(run, { sweep: { abandonedMs } })
  const left = await repository.listClosed(run, redisNow() - leftMs, MAX_GROUPS_PER_RUN)
  // the settings changed: the next sweep reads the new ones
  const ids = new Set([...left, ...(typeof written === 'object' ? written.closed : [])])
  await submission.submitAll(run, [...ids])
}
