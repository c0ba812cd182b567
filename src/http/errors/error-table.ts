/** How HTTP shows each error code: status, title, and the Retry-After of an error that names none itself. */
import type { ErrorCode } from '../../contract/errors.ts'

interface ErrorTableRow {
  status: number
  title: string
  /** In seconds. Every 429 and 503 has one, and every 409 that a repeated call resolves. */
  retryAfter?: number
}

export const ERROR_TABLE: Readonly<Record<ErrorCode, ErrorTableRow>> = {
  invalid_request: { status: 400, title: 'The request does not have the documented shape' },
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_config: { status: 400, title: 'The task rejects this config' },
  invalid_item_id: { status: 400, title: 'The item ID cannot be decoded' },
  seed_reserved: { status: 400, title: 'seed + index reaches into the range of training and eval items' },
  index_out_of_range: { status: 400, title: 'The task has no item with this index' },
  unauthorized: { status: 401, title: 'The call needs an API key' },
  forbidden: { status: 403, title: 'This API key may not do that' },
  unknown_task: { status: 404, title: 'There is no such task' },
  unknown_run: { status: 404, title: 'There is no such run' },
  unknown_group: { status: 404, title: 'There is no such group' },
  unknown_batch: { status: 404, title: 'There is no such batch' },
  unknown_eval: { status: 404, title: 'There is no such eval' },
  unknown_duel: { status: 404, title: 'There is no such duel' },
  unknown_collection: { status: 404, title: 'The run has no such collection' },
  unknown_suite: { status: 404, title: 'There is no such suite' },
  unknown_dump: { status: 404, title: 'There is no such dump' },
  not_found: { status: 404, title: 'There is nothing at this URL' },
  method_not_allowed: { status: 405, title: 'This URL does not support this method' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  engine_version_mismatch: { status: 409, title: 'The item was made by another version of the library' },
  group_conflict: { status: 409, title: 'This group ID already names other content' },
  step_conflict: { status: 409, title: 'This step already has another number of items' },
  too_many_open_batches: { status: 409, title: 'Too many batches are waiting to be acknowledged' },
  batch_acknowledged: { status: 409, title: 'The batch of this step was acknowledged and deleted' },
  dump_elsewhere: { status: 409, title: 'Another node has this file' },
  would_restart: { status: 409, title: 'The change would restart the run’s item sequence' },
  run_changed: { status: 409, title: 'Another call changed the run at the same time', retryAfter: 1 },
  idempotency_in_progress: {
    status: 409,
    title: 'The first call with this Idempotency-Key is still in progress',
    retryAfter: 1,
  },
  run_recreated: { status: 412, title: 'The run is not the one that the caller used, or is gone' },
  run_exists: { status: 412, title: 'There is a run of this name already' },
  body_too_large: { status: 413, title: 'The body is larger than the limit' },
  unsupported_media_type: { status: 415, title: 'The server does not read bodies of this type' },
  make_failed: { status: 422, title: 'The library cannot make this item' },
  rate_limited: { status: 429, title: 'The caller has reached its rate limit', retryAfter: 1 },
  too_many_active: { status: 429, title: 'Too many evals and collections are active', retryAfter: 30 },
  buffer_full: { status: 429, title: 'The run’s buffer is full', retryAfter: 5 },
  headers_too_large: { status: 431, title: 'The URL and headers are larger than the limit' },
  internal: { status: 500, title: 'The server failed; its log has the reason' },
  engine_unavailable: { status: 503, title: 'The engine is not available', retryAfter: 2 },
  redis_unavailable: { status: 503, title: 'Redis cannot be reached', retryAfter: 2 },
  redis_full: { status: 503, title: 'Redis has no memory left', retryAfter: 5 },
  server_busy: { status: 503, title: 'The server is too busy for this call at the moment', retryAfter: 5 },
  items_not_ready: { status: 503, title: 'No item is ready yet', retryAfter: 1 },
  make_timeout: { status: 503, title: 'The item took longer to make than the deadline', retryAfter: 1 },
  make_out_of_memory: { status: 503, title: 'Making the item took more memory than a worker has', retryAfter: 1 },
}
