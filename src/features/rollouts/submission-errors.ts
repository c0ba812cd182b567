/** Errors for rejected groups. Each message names the remedy. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'

export function bufferFullError(run: string): ServiceError {
  return new ServiceError(
    'buffer_full',
    `The buffer of the run ${run} is full. Take and acknowledge batches, raise buffer_max_groups, or post with "buffer": false.`,
  )
}

/** Thrown before the body is read, when its `buffer` fields are not known yet. */
export function bufferFullBeforeBodyError(run: string): ServiceError {
  return new ServiceError(
    'buffer_full',
    `The buffer of the run ${run} is full, so the body was not read. Take and acknowledge batches, or raise buffer_max_groups. To post known groups or groups with "buffer": false, leave run out of the query. If no group needs the buffer, set "buffer": false on the run.`,
  )
}

export function serverBufferFullError(maxBytes: number): ServiceError {
  return new ServiceError(
    'buffer_full',
    `The queued and buffered groups of this server have reached ${maxBytes} bytes, the limit (BUFFER_MAX_BYTES). Take and acknowledge batches, or post with "buffer": false and without arrays.`,
  )
}

export function groupConflictError(run: string, group: string): ServiceError {
  return new ServiceError(
    'group_conflict',
    `The group ${group} of the run ${run} was accepted with other content. Use another group_id.`,
  )
}
