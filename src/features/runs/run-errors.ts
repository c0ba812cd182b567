/** Errors of calls that meet a change of their run. */
import { ServiceError } from '../../contract/errors.ts'

/** The run was restored, restarted or deleted while the call was in progress. */
export function runRestoredError(run: string): ServiceError {
  return new ServiceError('run_changed', `Run ${run} was restored, restarted or deleted during this call; retry`)
}

/** Every attempt of an optimistic update met another one. */
export function runContendedError(run: string): ServiceError {
  return new ServiceError('run_changed', `Run ${run} is being changed by too many calls at once; retry`)
}
