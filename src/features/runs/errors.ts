/** Errors of calls whose run has changed or conflicts with them, and the condition that a call sets on its run. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import { findSimilar } from '@reasoning-gym-server/contract/similar-names'
import type { StoredRun } from './types.ts'

export function runRestoredError(run: string): ServiceError {
  return new ServiceError(
    'run_changed',
    `The run ${run} was restored, restarted, rewound or deleted during this call. Retry.`,
  )
}

/** The call is for another incarnation, by `If-Match` or by its connection or session, or the run does not exist. */
function runRecreatedError(run: string, current: { incarnation: string } | undefined): ServiceError {
  const what = current
    ? `The run ${run} was recreated with the incarnation ${current.incarnation}`
    : `The run ${run} does not exist`
  return new ServiceError(
    'run_recreated',
    `${what}. The incarnation that this call is for was deleted, or Redis lost it. Restore a checkpoint or PUT the settings. Then send the new ETag in If-Match, or open another connection or session.`,
  )
}

/** Names the similar ones of `others`, which are given where a trainer names a run that must exist. */
export function unknownRunError(run: string, others: string[] | undefined): ServiceError {
  const similar = findSimilar(run, others ?? []).map((name) => JSON.stringify(name))
  const advice = similar.length > 0 ? `Did you mean ${similar.join(' or ')}? ` : ''
  const detail = `There is no run named ${JSON.stringify(run)}. ${advice}PUT /runs/{run} creates it.`
  return new ServiceError('unknown_run', detail, { missing: { kind: 'run', name: run } })
}

/** `If-None-Match: *` requires that the run does not exist. */
export function runExistsError(run: string): ServiceError {
  return new ServiceError('run_exists', `A run named ${run} already exists. Use another name, or delete the run.`)
}

/** Every attempt of an optimistic update conflicted with another one. */
export function runContendedError(run: string): ServiceError {
  return new ServiceError('run_changed', `Too many calls are changing the run ${run} at once. Retry.`)
}

/** The first call for a step sets its number of items. */
export function stepConflictError(run: string, step: string, count: number): ServiceError {
  const detail = `The run ${run} already has ${count} items for ${step}, and a step keeps its items. Request ${count}, or leave out count.`
  return new ServiceError('step_conflict', detail, { errors: [{ path: 'count', message: `must be ${count}` }] })
}

const MAX_STEP_ADVANCE = 1_000_000

/** Throws for a step far above the last one: a rewind to it would acknowledge all steps in between, for good. */
export function assertStepInReach({ name, counters }: Pick<StoredRun, 'name' | 'counters'>, step: number): void {
  const most = (counters.named_step ?? step) + MAX_STEP_ADVANCE
  if (step <= most) return
  const detail = `The run ${name} is at step ${counters.named_step}, and a call may advance it to ${most} at most. Check the step.`
  throw new ServiceError('invalid_request', detail, { errors: [{ path: 'step', message: `must be at most ${most}` }] })
}

/** A position far beyond those in use is usually a mistake of the caller and would use memory. */
export function positionTooFarError(run: string, end: number): ServiceError {
  const detail = `Positions of the run ${run} must currently be below ${end}. The limit grows with the positions in use.`
  return new ServiceError('invalid_request', detail, {
    errors: [{ path: 'position', message: `position + count must be at most ${end}` }],
  })
}

/** No seed of the position gives an item, now or later. */
export function noItemError(run: string, positions: number[], reason: string | undefined): ServiceError {
  const [first, ...others] = positions
  const what =
    others.length > 0
      ? `The positions ${positions.join(', ')} of the run ${run} have`
      : `The position ${first} of the run ${run} has`
  const detail = `${what} no item, and a retry will not change that. Request other positions.${reason ? ` Reason: ${reason}` : ''}`
  return new ServiceError('make_failed', detail)
}

export function meetsRunCondition(
  run: { incarnation: string } | undefined,
  condition: RunCondition | undefined,
): boolean {
  if (condition === undefined) return true
  return run !== undefined && (condition === 'exists' || condition.includes(run.incarnation))
}

/** Throws `run_recreated`. */
export function assertRunCondition(
  name: string,
  run: { incarnation: string } | undefined,
  condition: RunCondition | undefined,
): void {
  if (!meetsRunCondition(run, condition)) throw runRecreatedError(name, run)
}
