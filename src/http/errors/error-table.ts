/** Maps each error code to HTTP: status, title, remedy and default `Retry-After`, and builds the response for an error. */
import type { ErrorCode, ServiceError } from '@reasoning-gym-server/contract/errors'

interface ErrorTableRow {
  status: number
  title: string
  /** What the caller can do about it: for the documentation. */
  remedy: string
  /** In seconds. Every 429 and 503 has one, and every 409 that a retry resolves. */
  retryAfter?: number
}

export const ERROR_TABLE: Readonly<Record<ErrorCode, ErrorTableRow>> = {
  invalid_request: {
    status: 400,
    title: 'The request does not have the documented shape',
    remedy: 'Correct the fields that `errors` lists.',
  },
  invalid_json: {
    status: 400,
    title: 'The body is not valid JSON',
    remedy: 'Send valid JSON; `detail` says where parsing failed.',
  },
  invalid_config: {
    status: 400,
    title: 'The task rejects this config',
    remedy: 'Correct the config; `GET /tasks/{task}` has its schema.',
  },
  invalid_item_id: {
    status: 400,
    title: 'The item ID cannot be decoded',
    remedy: 'Send the ID exactly as `POST /items` returned it.',
  },
  seed_reserved: {
    status: 400,
    title: 'The seed is in the range reserved for training and evaluation',
    remedy: 'Use seeds for which seed + index is below 2^30.',
  },
  index_out_of_range: { status: 400, title: 'The task has no item with this index', remedy: 'Use a smaller index.' },
  unauthorized: {
    status: 401,
    title: 'The call needs a valid API key',
    remedy: 'Send a key as `Authorization: Bearer KEY`.',
  },
  forbidden: {
    status: 403,
    title: 'The API key does not permit this call',
    remedy: 'Use a key whose role and runs permit the call.',
  },
  unknown_task: { status: 404, title: 'No task has this name', remedy: 'List the names with `GET /tasks`.' },
  unknown_run: {
    status: 404,
    title: 'No run has this name',
    remedy: 'List the names with `GET /runs`. `PUT /runs/{run}` creates a run.',
  },
  unknown_group: {
    status: 404,
    title: 'No group has this ID',
    remedy: 'Check the ID. The server deletes old groups: see the run setting `keep_groups`.',
  },
  unknown_batch: {
    status: 404,
    title: 'The step has no batch',
    remedy: 'Compose the batch with `POST /runs/{run}/batches`.',
  },
  unknown_eval: { status: 404, title: 'No eval has this ID', remedy: 'List the IDs with `GET /eval`.' },
  unknown_collection: {
    status: 404,
    title: 'The run has no collection with this ID',
    remedy: 'List the IDs with `GET /runs/{run}/collect`.',
  },
  unknown_rescore: {
    status: 404,
    title: 'The run has no rescore with this ID',
    remedy: 'List the IDs with `GET /runs/{run}/rescore`.',
  },
  unknown_suite: { status: 404, title: 'No suite has this name', remedy: 'List the names with `GET /eval/suites`.' },
  unknown_dump: { status: 404, title: 'No dump has this name', remedy: 'List the names with `GET /dumps`.' },
  not_found: { status: 404, title: 'The server has no such URL', remedy: 'Check the path; `/docs` lists all calls.' },
  method_not_allowed: {
    status: 405,
    title: 'This URL does not support this method',
    remedy: 'Use a method that the `Allow` header names.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    remedy: 'Send it again over a faster connection, or in smaller parts.',
  },
  engine_version_mismatch: {
    status: 409,
    title: 'Another version of the library, or other code of the task, made the item',
    remedy: 'Create the item again on this server.',
  },
  task_code_conflict: {
    status: 409,
    title: 'Servers that share a Redis have different code of this task',
    remedy: 'Give all servers the same files of `TASKS_PATH`, and restart them. Other tasks are not affected.',
  },
  group_conflict: {
    status: 409,
    title: 'The group ID already belongs to a group with different content',
    remedy: 'Use a new group ID for different content. The server keeps the group that was submitted first.',
  },
  step_conflict: {
    status: 409,
    title: 'The step already has a different number of items',
    remedy: 'Leave `count` out, or send the number that the first call sent.',
  },
  step_unavailable: {
    status: 409,
    title: 'The run has no state of this step to go back to',
    remedy: 'Name a step that the message allows, or restore a checkpoint.',
  },
  too_many_open_batches: {
    status: 409,
    title: 'Too many batches are waiting to be acknowledged',
    remedy: 'Acknowledge the batches of earlier steps.',
  },
  batch_acknowledged: {
    status: 409,
    title: 'The batch was acknowledged and deleted',
    remedy: 'Continue with the next step.',
  },
  dump_elsewhere: {
    status: 409,
    title: 'Another node holds this file',
    remedy: 'Send the call to the node that `detail` names.',
  },
  would_restart: {
    status: 409,
    title: 'The change would restart the item sequence of the run',
    remedy: 'Add `?restart=true` if that is what you want.',
  },
  run_changed: {
    status: 409,
    title: 'Another call changed the run at the same time',
    remedy: 'Send the same request again.',
    retryAfter: 1,
  },
  idempotency_in_progress: {
    status: 409,
    title: 'The first request with this Idempotency-Key is still in progress',
    remedy: 'Send the same request again.',
    retryAfter: 1,
  },
  run_recreated: {
    status: 412,
    title: 'The run is not the one that If-Match names',
    remedy: 'Read the run again: it was deleted or created again.',
  },
  run_exists: {
    status: 412,
    title: 'A run of this name already exists',
    remedy: 'Choose another name, or leave `If-None-Match` out.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is larger than the limit',
    remedy: 'Split the request; `detail` names the limit.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The server does not accept bodies of this type',
    remedy: 'Send `Content-Type: application/json`.',
  },
  make_failed: {
    status: 422,
    title: 'The item cannot be made: its maker raises, ends its process, or uses up the deadline',
    remedy:
      'Request a different item; a retry fails again. For a slow task, choose an easier config or raise `MAKE_DEADLINE_MS`.',
  },
  rate_limited: {
    status: 429,
    title: 'The caller has reached its rate limit',
    remedy: 'Wait for `Retry-After` and send fewer requests per minute.',
    retryAfter: 1,
  },
  too_many_active: {
    status: 429,
    title: 'Too many evals, collections or demos are active',
    remedy: 'Wait until one ends, or cancel one.',
    retryAfter: 30,
  },
  buffer_full: {
    status: 429,
    title: 'The buffer of the run is full',
    remedy: 'Take and acknowledge batches, then send the groups again.',
    retryAfter: 5,
  },
  headers_too_large: {
    status: 431,
    title: 'The URL and headers are larger than the limit',
    remedy: 'Shorten them, or move parameters into the body where the call allows it.',
  },
  internal: {
    status: 500,
    title: 'The server failed',
    remedy:
      'Report it as an issue, with the `X-Request-Id` of the response and the lines of the server log that have this ID.',
  },
  engine_unavailable: {
    status: 503,
    title: 'The Python engine is not available',
    remedy: 'Retry. If it persists, run `reasoning-gym-server doctor` on the server.',
    retryAfter: 2,
  },
  redis_unavailable: {
    status: 503,
    title: 'Redis cannot be reached',
    remedy: 'Retry. If it persists, check Redis and `REDIS_URL`.',
    retryAfter: 2,
  },
  redis_full: {
    status: 503,
    title: 'Redis is out of memory',
    remedy: 'Give Redis more memory, delete runs, or lower `BUFFER_MAX_BYTES`.',
    retryAfter: 5,
  },
  server_busy: { status: 503, title: 'The server is too busy for this call', remedy: 'Retry.', retryAfter: 5 },
  items_not_ready: {
    status: 503,
    title: 'No item is ready yet',
    remedy: 'Retry, or send `Prefer: wait=N` with a `step` or `position`.',
    retryAfter: 1,
  },
  make_timeout: {
    status: 503,
    title: 'The machine was too busy to make the item in time',
    remedy: 'Retry. If it persists, give the server more cores or lower its load.',
    retryAfter: 1,
  },
  make_out_of_memory: {
    status: 503,
    title: 'Making the item took more memory than a Python worker may use',
    remedy: 'Choose an easier config.',
    retryAfter: 1,
  },
}

interface ProblemReply {
  status: number
  headers: Record<string, string>
  document: Record<string, unknown>
}

/** A problem document (RFC 9457) with status and headers. */
export function buildProblemReply(error: ServiceError): ProblemReply {
  const { status, title, retryAfter: defaultRetryAfter } = ERROR_TABLE[error.code]
  const retryAfter = error.retryAfter ?? defaultRetryAfter
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
    document: {
      type: `urn:reasoning-gym-server:${error.code}`,
      title,
      status,
      code: error.code,
      detail: /[.?!…]$/.test(error.message) ? error.message : `${error.message}.`,
      ...(error.errors.length > 0 && { errors: error.errors }),
      ...error.missing,
    },
  }
}
