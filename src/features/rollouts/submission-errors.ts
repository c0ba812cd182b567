/** Why a group is not accepted, and how to go on. */
import { ServiceError } from '../../contract/errors.ts'

const RETRY_AFTER_S = 5

export function bufferFullError(run: string): ServiceError {
  return new ServiceError(
    'buffer_full',
    `The buffer of run ${run} is full: take batches and acknowledge them, raise buffer_max_groups, or post with "buffer": false`,
    { retryAfter: RETRY_AFTER_S },
  )
}

/** Before the body is read, so that what it says of `buffer` is not known. */
export function bufferFullBeforeBodyError(run: string): ServiceError {
  return new ServiceError(
    'buffer_full',
    `The buffer of run ${run} is full, and the body was not read: take batches and acknowledge them, or raise buffer_max_groups. Groups that are known, or have "buffer": false, are taken without the run in the query; where no group is for the buffer, set "buffer": false for the run`,
    { retryAfter: RETRY_AFTER_S },
  )
}

export function serverBufferFullError(mostBytes: number): ServiceError {
  return new ServiceError(
    'buffer_full',
    `The groups that wait on this server take ${mostBytes} bytes (BUFFER_MAX_BYTES): take batches and acknowledge them, or post with "buffer": false and without arrays once there is room`,
    { retryAfter: RETRY_AFTER_S },
  )
}

export function groupConflictError(run: string, group: string): ServiceError {
  return new ServiceError(
    'group_conflict',
    `Group ${group} of run ${run} was accepted with other content; send another group_id`,
  )
}
