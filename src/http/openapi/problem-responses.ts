/** The error responses of the document: a component for each status, with an example of each code as the server sends it. */
import { STATUS_CODES } from 'node:http'
import { ERROR_CODES, type ErrorCode, type MissingResource, ServiceError } from '@reasoning-gym-server/contract/errors'
import { buildProblemReply, ERROR_TABLE } from '../errors/error-table.ts'

const RUN = 'demo'

/** A message of each code. test/openapi.test.ts finds each of them in the code that sends it. */
export const EXAMPLE_DETAILS: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'group_size: must be at least 1, received 0',
  invalid_json: 'The body is nested deeper than 100',
  invalid_config:
    'The config is too large: the item ID would have 4318 characters, but the limit is 2048. Use a smaller config.',
  invalid_item_id: 'The item ID cannot be decoded. Send it exactly as POST /items returned it.',
  seed_reserved:
    'The sum of seed and index must be below 1073741824. Higher values are reserved for eval and training items.',
  index_out_of_range: 'arc_agi has 400 items with this config; set config.size for more.',
  make_failed: 'Row 7 has no item to train on: the library cannot make it. Leave out its task, or change the config.',
  unauthorized:
    'This call needs an API key. Send it as Authorization: Bearer KEY, as X-API-Key: KEY, or as the password in the URL: http://trainer:KEY@host.',
  forbidden: 'A key with the role reader may not make this call. Required role: trainer or admin.',
  unknown_task: 'There is no task named "leg_countin". GET /tasks lists the tasks.',
  unknown_run: `There is no run named "${RUN}". PUT /runs/{run} creates it.`,
  unknown_group: `The run ${RUN} has no group group-1, or the server no longer keeps it (keep_groups). GET /runs/{run}/groups lists those that it keeps.`,
  unknown_batch: `The run ${RUN} has no open batch for step 0. POST /runs/{run}/batches composes it.`,
  unknown_eval: 'There is no eval "eval-0123456789abcdef0123", or the server no longer keeps it. Check the ID.',
  unknown_collection:
    'There is no collection "collect-0123456789abcdef0123", or the server no longer keeps it. Check the ID.',
  unknown_duel: 'There is no duel "duel-0123456789abcdef0123", or the server no longer keeps it. Check the ID.',
  unknown_rescore:
    'The run demo has no rescore rescore-0123456789abcdef0123, or it is older than the last 20. GET /runs/{run}/rescore lists them.',
  unknown_suite: 'There is no suite "originals". The suites are: original, smoke.',
  unknown_dump: 'There is no dump rollouts_0001.jsonl. GET /dumps lists the dumps.',
  not_found: 'There is nothing at /item. See /docs for all routes.',
  method_not_allowed: '/items does not support GET. Supported methods: POST.',
  request_timeout: 'The request did not arrive in time. Send it again, faster or in smaller parts.',
  body_too_large:
    'The body has more than 1048576 bytes after decompression, the limit of this call. Send smaller requests.',
  unsupported_media_type: 'The content type of the body is not supported. Send application/json.',
  engine_version_mismatch:
    'The item was made with reasoning-gym 0.1.24, but this server runs 0.1.25. Create a new item.',
  task_code_conflict:
    'The process api-2 on node-2, which shares this Redis, serves the task word_count from TASKS_PATH with the code 3f9a0c1d2e4b, but this process has other code of the task (a81b7d90c3f2). Give all servers the same files, and restart them.',
  group_conflict: `The group group-1 of the run ${RUN} was accepted with other content. Use another group_id.`,
  step_conflict: `The run ${RUN} already has 64 items for step 0, and a step keeps its items. Request 64, or leave out count.`,
  step_unavailable: `The run ${RUN} cannot go back to step 9: its latest step is 8.`,
  too_many_open_batches: `8 batches of the run ${RUN} are not acknowledged, the limit. Acknowledge them with POST /runs/{run}/batches/{step}/ack.`,
  batch_acknowledged: `Step 0 of the run ${RUN} is already acknowledged. Request a later step.`,
  dump_elsewhere: 'The dump rollouts_0001.jsonl is on the node node-2, in its folder data_dumps. Request it there.',
  would_restart: 'Changing seed restarts the item sequence of the run. Add ?restart=true to do so.',
  run_changed: `Too many calls are changing the run ${RUN} at once. Retry.`,
  idempotency_in_progress: 'The first call with this Idempotency-Key is still in progress. Retry.',
  run_recreated: `There is no run ${RUN}. The incarnation that this call is for was deleted, or Redis lost it. Restore a checkpoint or PUT the settings. Then send the new ETag in If-Match, or open another connection or session.`,
  run_exists: `A run named ${RUN} already exists. Use another name, or delete the run.`,
  headers_too_large: 'The URL and headers have more than 16384 bytes together, the limit. Shorten them.',
  rate_limited: 'The key of trainer 1 has reached its limit per minute. Retry in 12 s.',
  too_many_active:
    'This API key has 32 active evals, duels and collections, the limit (MAX_ACTIVE_EVALS). Wait for one to end, or cancel one.',
  buffer_full: `The buffer of the run ${RUN} is full. Take and acknowledge batches, raise buffer_max_groups, or post with "buffer": false.`,
  engine_unavailable: 'The engine is not available: the library is starting. Retry later.',
  redis_unavailable: 'Redis at 127.0.0.1:6379 has not answered for 12 s. Retry.',
  redis_full:
    'Redis has reached its memory limit. Data that was accepted before is safe. Retry, or give Redis more memory.',
  server_busy:
    'Other large requests and replies are in progress, as many as this process handles at once (LARGE_BODIES). Retry.',
  items_not_ready: 'The item of position 12 is not ready yet. Retry.',
  make_timeout: 'The item could not be made in time: the deadline has passed. Use a smaller config, or retry.',
  make_out_of_memory:
    'Making this item exceeds the memory limit of a Python worker. Use a smaller config, or raise the limit.',
  internal: 'The server failed. Its log has the reason under the request ID in X-Request-Id.',
}

/** What the messages above name that does not exist. */
const EXAMPLE_NAMES: Partial<Record<ErrorCode, MissingResource>> = {
  unknown_task: { kind: 'task', name: 'leg_countin' },
  unknown_run: { kind: 'run', name: RUN },
  unknown_group: { kind: 'group', name: 'group-1' },
  unknown_batch: { kind: 'batch', name: '0' },
  unknown_eval: { kind: 'eval', name: 'eval-0123456789abcdef0123' },
  unknown_collection: { kind: 'collection', name: 'collect-0123456789abcdef0123' },
  unknown_duel: { kind: 'duel', name: 'duel-0123456789abcdef0123' },
  unknown_rescore: { kind: 'rescore', name: 'rescore-0123456789abcdef0123' },
  unknown_suite: { kind: 'suite', name: 'originals' },
  unknown_dump: { kind: 'dump', name: 'rollouts_0001.jsonl' },
}

/** `NotFound` for 404, as HTTP names it. */
export function nameErrorResponse(status: number): string {
  return (STATUS_CODES[status] ?? `Status${status}`).replace(/\W/g, '')
}

/** Codes that do not depend on what the operation does. */
export const COMMON_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'invalid_json',
  'unauthorized',
  'forbidden',
  'method_not_allowed',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
  'headers_too_large',
  'rate_limited',
  'internal',
  'redis_unavailable',
  'redis_full',
  'server_busy',
])

/** By their names, for `components.responses`: that of the common codes, and each status that has a code of its own. */
export function buildErrorResponses(): Record<string, object> {
  const own = ERROR_CODES.filter((code) => !COMMON_CODES.has(code))
  const ownByStatus = Map.groupBy(own, (code) => ERROR_TABLE[code].status)
  return {
    Error: buildErrorResponse([...COMMON_CODES], 'Any other error.'),
    ...Object.fromEntries(
      [...ownByStatus].map(([status, codes]) => [
        nameErrorResponse(status),
        buildErrorResponse(codes, `${STATUS_CODES[status] ?? ''} (${status}).`),
      ]),
    ),
  }
}

function buildErrorResponse(codes: ErrorCode[], sentence: string): object {
  const replies = codes.map((code) => {
    const missing = EXAMPLE_NAMES[code]
    return buildProblemReply(new ServiceError(code, EXAMPLE_DETAILS[code], { ...(missing && { missing }) }))
  })
  return {
    description: `${sentence} ${describeCodes(codes)}`,
    ...(replies.some(({ headers }) => 'retry-after' in headers) && {
      headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
    }),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(replies.map(({ document }) => [document.code, { value: document }])),
      },
    },
  }
}

export function describeCodes(codes: readonly string[]): string {
  const quoted = codes.map((code) => `\`${code}\``)
  const last = quoted.pop() ?? ''
  return `The code is ${quoted.length > 0 ? `${quoted.join(', ')} or ${last}` : last}.`
}
