/** Errors of calls that meet a change of their run. */
import { ServiceError } from '../../contract/errors.ts'

/** The run was restored, restarted or deleted while the call was in progress. */
export function runRestoredError(run: string): ServiceError {
  return new ServiceError('run_changed', `Run ${run} was restored, restarted or deleted during this call; retry`)
}

/** `If-Match` names another incarnation, or the run is gone. */
export function runRecreatedError(run: string, current: { uuid: string } | undefined): ServiceError {
  const what = current ? `Run ${run} is another one now, of incarnation ${current.uuid}` : `Run ${run} is gone`
  return new ServiceError(
    'run_recreated',
    `${what}: the one that If-Match names was deleted, or Redis lost it. Restore a checkpoint or PUT its settings, then name the new incarnation`,
  )
}

/** `If-None-Match: *` asks for a new run. */
export function runExistsError(run: string): ServiceError {
  return new ServiceError('run_exists', `There is a run named ${run}: use another name, or delete it`)
}

/** Every attempt of an optimistic update met another one. */
export function runContendedError(run: string): ServiceError {
  return new ServiceError('run_changed', `Run ${run} is being changed by too many calls at once; retry`)
}

/** A step has the number of items that its first call asked for. */
export function stepConflictError(run: string, step: string, count: number): ServiceError {
  const detail = `Run ${run} has ${count} items for ${step}, and a step keeps its items: ask for ${count}, or leave out count`
  return new ServiceError('step_conflict', detail, { errors: [{ path: 'count', message: `must be ${count}` }] })
}

/** A position far beyond all that are in use is a mistake of the caller more often than not, and would cost memory. */
export function positionTooFarError(run: string, end: number): ServiceError {
  const detail = `Positions of run ${run} can be asked for below ${end} now: the limit moves with the positions that are in use`
  return new ServiceError('invalid_request', detail, {
    errors: [{ path: 'position', message: `position + count must be at most ${end}` }],
  })
}

/** No draw of the position has an item; nobody was given one, and nobody will be. */
export function noItemError(run: string, positions: number[], reason: string | undefined): ServiceError {
  const [first, ...others] = positions
  const what =
    others.length > 0 ? `Positions ${positions.join(', ')} of run ${run} have` : `Position ${first} of run ${run} has`
  const detail = `${what} no item, and never will have: ask for the others${reason ? `. Reason: ${reason}` : ''}`
  return new ServiceError('make_failed', detail)
}
