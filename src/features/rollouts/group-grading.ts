/** Grades a queued group under the run's settings: the first step of scoring it. */

import { isTemporaryFailure, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Logger } from 'pino'
import type { Grader, GradingTrace } from '../../grading/grader.ts'
import { type GroupResult, gradeGroup } from '../../grading/group-advantages.ts'
import type { ScorerResult } from '../../grading/verdict.ts'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'
import type { Items } from '../items/items.ts'
import { createRunLogger, truncateForLog } from '../runs/run-logger.ts'
import type { ResolvedRun } from '../runs/types.ts'
import { hashText } from './group-counters.ts'
import { scoreGroupJob } from './jobs.ts'
import type { GroupRef } from './records.ts'
import { lostTextsError, type QueuedGroup } from './repository.ts'

interface GroupGradingDeps {
  items: Pick<Items, 'resolveItemId' | 'getCachedQuestion'>
  grader: Pick<Grader, 'grade' | 'countGraded'>
  log: Logger
}

export interface ScoreAttempt {
  ref: GroupRef
  /** ID of the request that posted the group, for the log. */
  request: string | undefined
  attempt: number
  isLastAttempt: boolean
  /** Whether the job has other groups, so that this one must not fail with it. */
  isShared: boolean
}

/** A group that was graded under one revision of its run's settings and is not completed yet. */
export interface GradedGroup extends QueuedGroup {
  ref: GroupRef
  run: ResolvedRun
  result: GroupResult
  /** Why the group failed as a whole; undefined if it was graded. Then the job fails with this reason. */
  failure: unknown
  /** Hash of the item's question. */
  question: number
  startedAt: number
  gradingMs: number
  /** What every log line of the group names. */
  logFields: { queue: string; group: string; task: string; request_id: string | undefined }
}

export type GradeQueued = ReturnType<typeof createGroupGrading>

/**
 * The returned function throws what another attempt may cure. On the last attempt of a job of its own, and there for what
 * no attempt cures, such as an item that cannot be made, the group fails instead.
 */
export function createGroupGrading({ items, grader, log }: GroupGradingDeps) {
  return async (run: ResolvedRun, queued: QueuedGroup, attempt: ScoreAttempt): Promise<GradedGroup> => {
    const startedAt = performance.now()
    const { ref, request } = attempt
    const { settings } = run
    const { metadata, forBuffer, texts } = queued
    const { recipe } = metadata
    const { task, difficulty, config, seed } = recipe
    const { debug, info } = createRunLogger(log, run.name, settings)
    const logFields = { queue: scoreGroupJob.name, group: ref.group, task, request_id: request }
    info(logFields, 'job started')
    debug?.({ ...logFields, task, difficulty, config, seed, policy_version: metadata.policy_version }, 'group item')
    const onTrace =
      debug &&
      ((trace: GradingTrace) => debug({ ...logFields, ...buildGradingTraceFields(trace) }, 'completion graded'))
    const known = !onTrace && texts?.known?.revision === run.revision ? texts.known : undefined
    const gradeTexts = async () => {
      if (!texts) throw lostTextsError(ref.group)
      const resolved = await items.resolveItemId(metadata.item_id)
      if (known) {
        grader.countGraded(task, known.verdicts) // samples are counted with their group
        return known
      }
      const gradingStartedAt = performance.now()
      const verdicts = await grader.grade(resolved, texts.rollouts, settings, { orThrow: true, onTrace })
      return { verdicts, gradingMs: performance.now() - gradingStartedAt }
    }
    const question = () => known?.question ?? hashText(items.getCachedQuestion(recipe) ?? metadata.item_id)
    const common = { ...queued, ref, run, startedAt, logFields }
    try {
      const { verdicts, gradingMs } = await gradeTexts()
      const result = gradeGroup(metadata.rollouts, verdicts, settings, forBuffer)
      return { ...common, result, failure: undefined, question: question(), gradingMs }
    } catch (error) {
      if (isRetried(error, attempt)) throw error
      const failure = translateRedisError(error)
      return { ...common, result: createFailedResult(failure), failure, question: question(), gradingMs: 0 }
    }
  }
}

/** Whether another attempt, alone or by another process, may grade the group. */
function isRetried(error: unknown, { attempt, isLastAttempt, isShared }: ScoreAttempt): boolean {
  if (isEngineUnavailable(error) || isTaskCodeConflict(error) || isShared) return true
  const isLast = isLastAttempt || (isSlowItem(error) && attempt >= SLOW_ITEM_MAX_ATTEMPTS)
  return !isPermanent(error) && !isLast
}

export function isEngineUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'engine_unavailable'
}

/** Whether another process has the code with which the item was made, or had it until now. */
export function isTaskCodeConflict(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'task_code_conflict'
}

/** Whether no number of attempts changes the failure: the item cannot be made, or not by this version of the library. */
export function isPermanent(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code !== 'internal' && !isTemporaryFailure(error)
}

/** Each attempt at such an item may take more than a minute on a busy machine. */
const SLOW_ITEM_MAX_ATTEMPTS = 2

/** Whether making the item exceeded a limit, which it may not do again. */
export function isSlowItem(error: unknown): error is ServiceError {
  return error instanceof ServiceError && ['make_timeout', 'make_out_of_memory'].includes(error.code)
}

const INTERNAL_ERROR = new ServiceError(
  'internal',
  'The server failed to score this group. GET /jobs/failed has the reason.',
)

function createFailedResult(error: unknown): GroupResult {
  const { code, message } = error instanceof ServiceError ? error : INTERNAL_ERROR
  return { status: 'failed', verdicts: [], destination: null, code, detail: message }
}

/** Explains a verdict in a debug line: the extraction, the score of each answer variant and the outcome. */
function buildGradingTraceFields({ rollout, text, extraction, scorerResults, verdict }: GradingTrace): object {
  const scored = verdict.status === 'scored' ? verdict : undefined
  return {
    rollout,
    extraction,
    completion: text === undefined ? null : truncateForLog(text),
    answer: scored?.answer == null ? null : truncateForLog(scored.answer),
    fault: scored?.fault ?? null,
    parsed_answers: Object.fromEntries(
      scorerResults.map((result, k) => [k === 0 ? 'bare' : 'in_tags', formatResult(result)]),
    ),
    score: verdict.score,
    ...(verdict.status === 'unscored' && { code: verdict.code }),
  }
}

function formatResult(result: ScorerResult): number | string {
  switch (result.kind) {
    case 'score':
      return result.score
    case 'raised':
      return 'raised'
    case 'failed':
      return result.code
  }
}
