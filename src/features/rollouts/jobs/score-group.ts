/** Scores a submitted group with the run's settings and completes it. Running the job twice is harmless. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Logger } from 'pino'
import type { Engine } from '../../../engine/engine.ts'
import { hasNoCompletion } from '../../../grading/finish-reason.ts'
import type { Grader, GradingTrace, Submission } from '../../../grading/grader.ts'
import { type GroupResult, gradeGroup } from '../../../grading/group.ts'
import type { MetricsRecorder } from '../../../platform/metrics/metrics-recorder.ts'
import {
  type JobAttempt,
  REQUEUE_ON_OTHER_WORKER,
  type Requeue,
  UnrecoverableError,
} from '../../../platform/queue/job-definition.ts'
import { translateRedisError } from '../../../platform/redis/redis-errors.ts'
import { WeightedSemaphore } from '../../../platform/weighted-semaphore.ts'
import type { Items } from '../../items/items.ts'
import { getCurriculumInput } from '../../runs/curriculum.ts'
import type { FrontierCurriculum } from '../../runs/frontier/frontier-curriculum.ts'
import type { ResolvedRun } from '../../runs/resolved-run.ts'
import { runContendedError } from '../../runs/run-errors.ts'
import { createRunLogger } from '../../runs/run-logger.ts'
import type { Runs } from '../../runs/runs.ts'
import type { ItemQueue } from '../../runs/sequence/item-queue.ts'
import type { TaskCatalog } from '../../tasks/task-catalog.ts'
import { hashText } from '../answer-counts.ts'
import type { FormatErrorLogger } from '../format-error-logger.ts'
import { buildGradingTraceFields } from '../grading-trace.ts'
import type { GroupDumps } from '../group-dumps.ts'
import type { GroupTexts } from '../group-payload.ts'
import { buildGroupSummary } from '../group-summary.ts'
import type { OutcomeBuilder } from '../outcome-builder.ts'
import {
  type CompleteGroupResult,
  formatGroupPath,
  type GroupRef,
  type GroupRepository,
  lostPayloadError,
  type QueuedGroup,
} from '../repository.ts'
import type { ScoreControls } from '../score-controls.ts'
import type { ScoreGroupJobData } from './definitions.ts'

interface ScoreGroupProcessorDeps {
  engine: Pick<Engine, 'health'>
  groups: GroupRepository
  items: Pick<Items, 'resolveItemId' | 'buildMessages' | 'getCachedQuestion'>
  grader: Pick<Grader, 'grade'>
  runs: Runs
  tasks: TaskCatalog
  recorder: MetricsRecorder
  dumps: GroupDumps
  itemQueue: Pick<ItemQueue, 'schedulePrefetch'>
  frontier: Pick<FrontierCurriculum, 'describeGroup' | 'fold'>
  formatErrors: FormatErrorLogger
  outcomes: OutcomeBuilder
  controls: ScoreControls
  log: Logger
}

/** One attempt to score one group. */
interface ScoreAttempt {
  ref: GroupRef
  request: string | undefined
  isLastAttempt: boolean
}

const INTERNAL_ERROR = new ServiceError(
  'internal',
  'The server failed to score this group. GET /jobs/failed has the reason.',
)

/** Size of the texts that a worker holds in memory at once: many small groups or a few large ones. */
const MAX_TEXT_BYTES_IN_FLIGHT = 256 * 1024 * 1024

/** Limit of retries after the run's settings change while a group is scored. */
const MAX_SETTINGS_CHANGE_RETRIES = 5

export function createScoreGroupProcessor(deps: ScoreGroupProcessorDeps) {
  const {
    engine,
    groups,
    items,
    grader,
    runs,
    tasks,
    recorder,
    dumps,
    itemQueue,
    frontier,
    formatErrors,
    outcomes,
    controls,
    log,
  } = deps
  const textMemory = new WeightedSemaphore(MAX_TEXT_BYTES_IN_FLIGHT)
  const blockedOnEngine = new Set<string>() // not read again until the engine is available
  return async (
    { text_bytes, request, ...ref }: ScoreGroupJobData,
    { isLastAttempt }: Pick<JobAttempt, 'isLastAttempt'>,
  ): Promise<Requeue | undefined> => {
    const group = formatGroupPath(ref)
    if (engine.health().ok) blockedOnEngine.clear()
    else if (blockedOnEngine.has(group)) return REQUEUE_ON_OTHER_WORKER
    try {
      const bytes = text_bytes ?? (await groups.get(ref))?.metadata?.text_bytes ?? 0
      await textMemory.withPermits(bytes, () => score({ ref, request, isLastAttempt }))
      return undefined
    } catch (error) {
      if (isTaskCodeConflict(error)) return REQUEUE_ON_OTHER_WORKER
      if (!isEngineUnavailable(error)) throw error
      blockedOnEngine.add(group)
      return REQUEUE_ON_OTHER_WORKER
    }
  }

  async function score(attempt: ScoreAttempt): Promise<void> {
    const { ref } = attempt
    const queued = await groups.getQueued(ref)
    if (!queued) return // completed by another delivery of the job, or its run was deleted
    for (
      let run = await runs.getCachedInEpoch(ref.run, ref.epoch), k = 0;
      k < MAX_SETTINGS_CHANGE_RETRIES;
      run = await runs.getInEpoch(ref.run, ref.epoch), k++
    ) {
      if (!run) return // the run was restored or deleted, so no caller waits for the group
      if (await scoreWithSettings(run, attempt, queued)) return
    }
    throw runContendedError(ref.run)
  }

  /** Returns false if the run's settings changed in the meantime. */
  async function scoreWithSettings(
    run: ResolvedRun,
    { ref, request, isLastAttempt }: ScoreAttempt,
    { metadata, forBuffer, texts }: QueuedGroup,
  ): Promise<boolean> {
    const startedAt = performance.now()
    const { settings } = run
    const recipe = decodeItemId(metadata.item_id)
    const { debug, info: logVerbose } = createRunLogger(log, run.name, settings)
    const logFields = { group: ref.group, task: recipe.task, request_id: request }
    logVerbose(logFields, 'job started')
    const { task, difficulty, config, seed } = recipe
    debug?.({ ...logFields, task, difficulty, config, seed, policy_version: metadata.policy_version }, 'group item')
    let result: GroupResult
    let gradingMs = 0
    let failure: unknown
    const onTrace =
      debug &&
      ((trace: GradingTrace) => debug({ ...logFields, ...buildGradingTraceFields(trace) }, 'completion graded'))
    try {
      if (!texts) throw lostPayloadError(ref)
      const resolved = await items.resolveItemId(metadata.item_id)
      const gradingStartedAt = performance.now()
      const verdicts = await grader.grade(resolved, texts.rollouts.map(toRolloutSubmission), settings, true, onTrace)
      gradingMs = performance.now() - gradingStartedAt
      result = gradeGroup(metadata.rollouts, verdicts, settings, forBuffer)
    } catch (error) {
      if (isEngineUnavailable(error) || isTaskCodeConflict(error)) throw error
      if (!isEngineMismatch(error) && !isLastAttempt) throw error
      failure = translateRedisError(error)
      result = createFailedResult(failure)
    }
    const dump = await dumps.prepareRecord(run, result, async () => {
      const prompt = await items.buildMessages(recipe, settings)
      return {
        run: run.name,
        group: ref.group,
        recipe,
        prompt,
        about: metadata,
        texts: texts ?? { rollouts: [] },
        result,
      }
    })
    const question = hashText(items.getCachedQuestion(recipe) ?? metadata.item_id)
    const { scoring } = settings
    const completed = await groups.complete(ref, {
      revision: run.revision,
      task: recipe.task,
      difficulty: recipe.difficulty,
      result,
      summary: buildGroupSummary(ref.group, recipe.task, metadata, result),
      retriable: failure !== undefined,
      maxRetainedGroups: settings.keep_groups,
      curriculumInput: getCurriculumInput(run, recipe, result.mean_score ?? null, tasks.list()),
      frontierInput: frontier.describeGroup(run, recipe, result),
      dump,
      outcome: outcomes.build({
        recipe,
        question,
        scoring,
        result,
        controls: controls.take(run.name, run.epoch, task),
      }),
    })
    const isUnchanged = completed !== 'run_changed'
    if (dump) await dumps.handleAppendResults(run, dump, isUnchanged ? completed?.dumpQueueLengths : undefined)
    if (!isUnchanged) return false
    if (completed) {
      recorder.recordGroup(recipe.task, result)
      const { name, epoch } = run
      const { verdicts } = result
      void controls.check({
        run: name,
        epoch,
        group: ref.group,
        recipe,
        question,
        rules: settings,
        verdicts,
        gradingMs,
      })
      formatErrors.add(run.name, result.verdicts)
      logGroupResult(log, { run: run.name, ...logFields }, result, completed)
      logVerbose({ ...logFields, ms: Math.round(performance.now() - startedAt) }, 'job finished')
    }
    const level = completed?.levelChange
    if (level && level.before !== level.after) await itemQueue.schedulePrefetch(run) // the change may start a new rung
    if (completed?.hasFrontierEvidence) await foldEvidence(run)
    if (isEngineMismatch(failure)) throw new UnrecoverableError(failure.message)
    if (failure !== undefined) throw failure // fails the job with its reason
    return true
  }

  /**
   * Folds evidence if possible. The group is completed in any case, and evidence that is left waits for the next group
   * or request.
   */
  async function foldEvidence(run: ResolvedRun): Promise<void> {
    try {
      if ((await frontier.fold(run)).length > 0) await itemQueue.schedulePrefetch(run)
    } catch (err) {
      log.warn({ err, run: run.name }, 'the curriculum could not be updated from scored groups; the next group retries')
    }
  }
}

function logGroupResult(
  log: Logger,
  fields: object,
  result: GroupResult,
  { levelChange: level }: CompleteGroupResult,
): void {
  const { status, mean_score, mean_reward, destination, code, detail, verdicts } = result
  if (status === 'failed') log.warn({ ...fields, code, detail }, 'group scoring failed')
  else log.info({ ...fields, rollouts: verdicts.length, mean_score, mean_reward, destination }, 'group scored')
  if (level && level.before !== level.after) {
    log.info({ ...fields, from: level.before, to: level.after }, 'task difficulty changed')
  }
}

export function toRolloutSubmission({
  completion,
  messages,
  finish_reason,
}: GroupTexts['rollouts'][number]): Submission {
  if (hasNoCompletion(finish_reason)) return { kind: 'nothing', detail: `finish_reason ${finish_reason}` }
  return completion === undefined ? { kind: 'messages', messages: messages ?? [] } : { kind: 'completion', completion }
}

function isEngineUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'engine_unavailable'
}

/** Whether another process has the code with which the item was made, or had it until now. */
function isTaskCodeConflict(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'task_code_conflict'
}

/** Whether the group was accepted before an upgrade of the library. No number of attempts changes that. */
function isEngineMismatch(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'engine_version_mismatch'
}

function createFailedResult(error: unknown): GroupResult {
  const { code, message } = error instanceof ServiceError ? error : INTERNAL_ERROR
  return { status: 'failed', verdicts: [], destination: null, code, detail: message }
}
