/** Errors of a call whose run was changed, restored or deleted by somebody else at the same time. */
import { ServiceError } from '../../contract/errors.ts'

export function runRestoredError(run: string): ServiceError {
  return new ServiceError('redis_unavailable', `Run ${run} was restored or removed a moment ago; ask again`)
}

export function runContendedError(run: string): ServiceError {
  return new ServiceError('redis_unavailable', `Run ${run} is being changed again and again; ask again`)
}
