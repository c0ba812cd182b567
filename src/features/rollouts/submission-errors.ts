/** Errors for rejected groups. Each message names the remedy. */
import { ServiceError } from '../../contract/errors.ts'

export function bufferFullError(run: string): ServiceError {
  return new ServiceError(
    'buffer_full',
    `The buffer of run ${run} is full: take and acknowledge batches, raise buffer_max_groups, or post with "buffer": false`,
  )
}

/** Thrown before the body is read, when its `buffer` fields are not known yet. */
export function bufferFullBeforeBodyError(run: string): ServiceError {
  return new ServiceError(
    'buffer_full',
    `The buffer of run ${run} is full, so the body was not read: take and acknowledge batches, or raise buffer_max_groups. Known groups and groups with "buffer": false are accepted without run in the query; if no group is for the buffer, set "buffer": false on the run`,
  )
}

export function serverBufferFullError(maxBytes: number): ServiceError {
  return new ServiceError(
    'buffer_full',
    `The groups waiting on this server hold ${maxBytes} bytes (BUFFER_MAX_BYTES): take and acknowledge batches, or post with "buffer": false and without arrays`,
  )
}

export function groupConflictError(run: string, group: string): ServiceError {
  return new ServiceError(
    'group_conflict',
    `Group ${group} of run ${run} was accepted with other content; send another group_id`,
  )
}
