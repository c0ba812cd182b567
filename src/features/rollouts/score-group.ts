/**
 * The job that scores submitted groups, each in three steps: grade it, record its completion, run what follows from it. Running
 * the job twice is harmless. A group that fails among others gets a job of its own, whose attempts and failure are its alone.
 */
import type { Engine } from '../../engine/engine.ts'
import {
  type JobAttempt,
  REQUEUE_ON_OTHER_WORKER,
  type Requeue,
  UnrecoverableError,
} from '../../platform/queue/job-definition.ts'
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.ts'
import { WeightedSemaphore } from '../../platform/weighted-semaphore.ts'
import { runContendedError } from '../runs/errors.ts'
import type { Runs } from '../runs/runs.ts'
import type { AfterCompletion, RecordCompletion } from './completion-effects.ts'
import {
  type GradedGroup,
  type GradeQueued,
  isEngineUnavailable,
  isPermanent,
  isSlowItem,
  isTaskCodeConflict,
  type ScoreAttempt,
} from './group-grading.ts'
import { type JobGroup, listJobGroups, type ScoreGroupJobData, scoreGroupJob } from './jobs.ts'
import { formatGroupPath } from './records.ts'
import type { GroupRepository } from './repository.ts'

interface ScoreGroupProcessorDeps {
  engine: Pick<Engine, 'health'>
  groups: Pick<GroupRepository, 'get' | 'getQueued'>
  runs: Pick<Runs, 'get'>
  /** Default: none. */
  tracing?: Tracing
  /** Adds a job for each group. */
  requeueAlone: (groups: JobGroup[]) => Promise<void>
  gradeQueued: GradeQueued
  recordCompletion: RecordCompletion
  afterCompletion: AfterCompletion
}

type GroupAttempt = Pick<ScoreAttempt, 'attempt' | 'isLastAttempt' | 'isShared'>

/** Size of the texts that a worker holds in memory at once: many small groups or a few large ones. */
const MAX_TEXT_BYTES_IN_FLIGHT = 256 * 1024 * 1024

/** Limit of retries after the run's settings change while a group is scored. */
const MAX_SETTINGS_CHANGE_RETRIES = 5

export function createScoreGroupProcessor(deps: ScoreGroupProcessorDeps) {
  const { engine, groups, runs, tracing = NO_TRACING } = deps
  const { requeueAlone, gradeQueued, recordCompletion, afterCompletion } = deps
  const textMemory = new WeightedSemaphore(MAX_TEXT_BYTES_IN_FLIGHT)
  const blockedOnEngine = new Set<string>() // not read again until the engine is available
  return async (
    data: ScoreGroupJobData,
    { attempt, isLastAttempt }: Pick<JobAttempt, 'attempt' | 'isLastAttempt'>,
  ): Promise<Requeue | undefined> => {
    const all = listJobGroups(data)
    if (all.length === 1) return processInSpan(data, { attempt, isLastAttempt, isShared: false })
    const shared = { attempt: 1, isLastAttempt: false, isShared: true }
    const outcomes = await Promise.allSettled(all.map((one) => processInSpan(one, shared)))
    const failed = all.filter((_, k) => outcomes[k]?.status === 'rejected')
    if (failed.length > 0) await requeueAlone(failed)
    return outcomes.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []))[0]
  }

  /** Groups of one job belong to different traces: each to that of the request that posted it. */
  function processInSpan(group: JobGroup, attempt: GroupAttempt): Promise<Requeue | undefined> {
    const { traceparent, run } = group
    const attributes = {
      'messaging.system': 'bullmq',
      'messaging.operation.type': 'process',
      'messaging.destination.name': scoreGroupJob.name,
      'rgs.run': run,
      'rgs.group': group.group,
      'rgs.attempt': attempt.attempt,
    }
    const options = { kind: 'consumer', traceparent, attributes } as const
    return tracing.span(`process ${scoreGroupJob.name}`, options, () => process(group, attempt))
  }

  async function process(
    { text_bytes, request, run, epoch, group: id }: JobGroup,
    attempt: GroupAttempt,
  ): Promise<Requeue | undefined> {
    const ref = { run, epoch, group: id }
    const group = formatGroupPath(ref)
    if (engine.health().ok) blockedOnEngine.clear()
    else if (blockedOnEngine.has(group)) return REQUEUE_ON_OTHER_WORKER
    try {
      const bytes = text_bytes ?? (await groups.get(ref))?.metadata?.text_bytes ?? 0
      await textMemory.withPermits(bytes, () => score({ ref, request, ...attempt }))
      return undefined
    } catch (error) {
      if (isTaskCodeConflict(error)) return REQUEUE_ON_OTHER_WORKER
      if (!isEngineUnavailable(error)) throw error
      blockedOnEngine.add(group)
      return REQUEUE_ON_OTHER_WORKER
    }
  }

  /** Scores the group again for as long as the run's settings change in the meantime. */
  async function score(scoreAttempt: ScoreAttempt): Promise<void> {
    const { ref } = scoreAttempt
    const queued = await groups.getQueued(ref)
    if (!queued) return // completed by another delivery of the job, or its run was deleted
    let run = await runs.get(ref.run, { epoch: ref.epoch, fresh: false })
    for (let k = 0; k < MAX_SETTINGS_CHANGE_RETRIES; k++) {
      if (!run) return // the run was restored or deleted, so no caller waits for the group
      const graded = await gradeQueued(run, queued, scoreAttempt)
      const completed = await recordCompletion(graded)
      if (completed !== 'run_changed') {
        if (completed) await afterCompletion(graded, completed)
        throwFailure(graded)
        return
      }
      run = await runs.get(ref.run, { epoch: ref.epoch })
    }
    throw runContendedError(ref.run)
  }
}

/** Throws the reason of a group that failed as a whole, so that the job fails with it. */
function throwFailure({ failure }: GradedGroup): void {
  if (isPermanent(failure) || isSlowItem(failure)) throw new UnrecoverableError(failure.message)
  if (failure !== undefined) throw failure
}
