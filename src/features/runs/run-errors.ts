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
