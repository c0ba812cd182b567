/** Scores a posted group: reads its completions, applies the run's rules, completes it. May run any number of times. */

import type { Logger } from 'pino'
import { ServiceError } from '../../../contract/errors.ts'
import { decodeItemId } from '../../../contract/item-id.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Grader, GradingTrace, Submission } from '../../../grading/grader.ts'
import { type GroupResult, gradeGroup } from '../../../grading/group.ts'
import type { MetricsRecorder } from '../../../platform/metrics/metrics-recorder.ts'
import { REQUEUE_ENGINE_DOWN, type Requeue } from '../../../platform/queue/job-definitions.ts'
import { translateRedisError } from '../../../platform/redis/redis-errors.ts'
import { WeightedSemaphore } from '../../../platform/weighted-semaphore.ts'
import { buildDumpedGroup } from '../../dumps/dump-record.ts'
import type { Dumps } from '../../dumps/dumps.ts'
import type { Items } from '../../items/items.ts'
import { getCurriculumInput } from '../../runs/curriculum.ts'
import type { ItemQueue } from '../../runs/item-queue.ts'
import type { ResolvedRun } from '../../runs/resolved-run.ts'
import { runContendedError } from '../../runs/run-errors.ts'
import { createRunLogger } from '../../runs/run-logger.ts'
import type { Runs } from '../../runs/runs.ts'
import type { TaskCatalog } from '../../tasks/task-catalog.ts'
import type { FormatErrorLogger } from '../format-error-logger.ts'
import { buildGradingTraceFields } from '../grading-trace.ts'
import type { GroupTexts } from '../group-payload.ts'
import { buildGroupSummary } from '../group-summary.ts'
import {
  type CompleteGroupResult,
  formatGroupPath,
  type GroupRef,
  type GroupRepository,
  type QueuedGroup,
} from '../repository.ts'

interface ScoreGroupProcessorDeps {
  engine: Pick<Engine, 'health'>
  groups: GroupRepository
  items: Items
  grader: Grader
  runs: Runs
  tasks: TaskCatalog
  recorder: MetricsRecorder
  dumps: Dumps
  itemQueue: ItemQueue
  formatErrors: FormatErrorLogger
  log: Logger
}

const INTERNAL_ERROR = new ServiceError('internal', 'The server failed; GET /jobs/failed has the reason')
type ScoreGroupJob = GroupRef & { request?: string | undefined; text_bytes?: number | undefined }

/** What a worker holds of texts at once: many small groups, or few large ones. */
const MAX_TEXT_BYTES_IN_FLIGHT = 256 * 1024 * 1024

/** A run may be changed while a group is scored. */
const MAX_SETTINGS_CHANGE_RETRIES = 5

const UNANSWERED_FINISH_REASONS = new Set(['abort', 'error'])

export function createScoreGroupProcessor(parts: ScoreGroupProcessorDeps) {
  const {
    engine,
    groups,
    items,
    grader: judge,
    runs,
    tasks,
    recorder: meters,
    dumps,
    itemQueue: handout,
    formatErrors: faults,
    log,
  } = parts
  const room = new WeightedSemaphore(MAX_TEXT_BYTES_IN_FLIGHT)
  const waiting = new Set<string>() // groups that need the engine, so that they are not read again before it is back
  return async (posted: ScoreGroupJob, { last }: { last: boolean }): Promise<Requeue | undefined> => {
    const { text_bytes, request, ...place } = posted
    const group = formatGroupPath(place)
    if (engine.health().ok) waiting.clear()
    else if (waiting.has(group)) return REQUEUE_ENGINE_DOWN
    try {
      const bytes = text_bytes ?? (await groups.get(place))?.metadata?.text_bytes ?? 0
      await room.withPermits(bytes, () => score(place, request, last))
      return undefined
    } catch (error) {
      if (!isEngineUnavailable(error)) throw error
      waiting.add(group)
      return REQUEUE_ENGINE_DOWN
    }
  }

  async function score(place: GroupRef, request: string | undefined, last: boolean): Promise<void> {
    const queued = await groups.getQueued(place)
    if (!queued) return // done by another delivery, or of a run that is gone
    for (
      let run = await runs.getCached(place.run, place.epoch), k = 0;
      k < MAX_SETTINGS_CHANGE_RETRIES;
      run = await runs.getOrCreate(place.run), k++
    ) {
      if (await scoreUnder(run, { place, request, last }, queued)) return
    }
    throw runContendedError(place.run)
  }

  /** False if the run's settings are not those any more. */
  async function scoreUnder(
    run: ResolvedRun,
    { place, request, last }: { place: GroupRef; request: string | undefined; last: boolean },
    { metadata: about, forBuffer: wants, texts }: QueuedGroup,
  ): Promise<boolean> {
    const started = performance.now()
    const { settings } = run
    const recipe = decodeItemId(about.item_id)
    const { debug, info: chatter } = createRunLogger(log, run.name, settings)
    const inLog = { group: place.group, task: recipe.task, request_id: request }
    chatter(inLog, 'a job is taken')
    const { task, difficulty, config, seed } = recipe
    debug?.({ ...inLog, task, difficulty, config, seed, policy_version: about.policy_version }, 'the group’s item')
    let result: GroupResult
    let failure: unknown
    const onTrace =
      debug &&
      ((trace: GradingTrace) => debug({ ...inLog, ...buildGradingTraceFields(trace) }, 'a completion is judged'))
    try {
      await items.resolveItemId(about.item_id)
      const verdicts = await judge.grade(recipe, texts.rollouts.map(toRolloutSubmission), settings, true, onTrace)
      result = gradeGroup(about.rollouts, verdicts, settings, wants)
    } catch (error) {
      if (!last || isEngineUnavailable(error)) throw error
      failure = translateRedisError(error)
      result = createFailedResult(failure)
    }
    const feed = getCurriculumInput(run, recipe, result.mean_score ?? null, tasks.list())
    const facts = buildGroupSummary(place.group, recipe.task, about, result)
    const dumped = { run: run.name, uuid: run.uuid }
    const dump = await dumps.prepareRecord(dumped, settings, result, async () => {
      const prompt = await items.buildMessages(recipe, settings)
      return buildDumpedGroup({ run: run.name, group: place.group, recipe, prompt, about, texts, result })
    })
    const completion = {
      revision: run.revision,
      task: recipe.task,
      result,
      summary: facts,
      retriable: failure !== undefined,
      maxRetainedGroups: settings.keep_groups,
      curriculumInput: feed,
      dump,
    }
    const done = await groups.complete(place, completion)
    if (dump) await dumps.handleAppendResults(dumped, dump, done === 'changed' ? undefined : done?.dumpQueueLengths)
    if (done === 'changed') return false
    if (done) {
      meters.recordGroup(recipe.task, result)
      faults.add(run.name, result.verdicts)
      logGroupResult(log, { run: run.name, ...inLog }, result, done)
      chatter({ ...inLog, ms: Math.round(performance.now() - started) }, 'a job is done')
    }
    if (done?.levelChange && done.levelChange.before !== done.levelChange.after) await handout.schedulePrefetch(run) // it may have left a rung
    if (failure !== undefined) throw failure // into the failed set, with its reason
    return true
  }
}

function logGroupResult(
  log: Logger,
  about: object,
  result: GroupResult,
  { levelChange: level }: CompleteGroupResult,
): void {
  const { status, mean_score, mean_reward, destination, code, detail, verdicts } = result
  if (status === 'failed') log.warn({ ...about, code, detail }, 'a group could not be scored')
  else log.info({ ...about, rollouts: verdicts.length, mean_score, mean_reward, destination }, 'a group is scored')
  if (level && level.before !== level.after) {
    log.info({ ...about, from: level.before, to: level.after }, 'the difficulty of a task moved')
  }
}

export function toRolloutSubmission({
  completion,
  messages,
  finish_reason,
}: GroupTexts['rollouts'][number]): Submission {
  if (finish_reason && UNANSWERED_FINISH_REASONS.has(finish_reason))
    return { kind: 'nothing', detail: `finish_reason ${finish_reason}` }
  return completion === undefined ? { kind: 'messages', messages: messages ?? [] } : { kind: 'completion', completion }
}

function isEngineUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'engine_unavailable'
}

function createFailedResult(error: unknown): GroupResult {
  const { code, message } = error instanceof ServiceError ? error : INTERNAL_ERROR
  return { status: 'failed', verdicts: [], destination: null, code, detail: message }
}
