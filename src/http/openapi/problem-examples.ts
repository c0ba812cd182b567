/** The error responses of the document: a component for each status, with an example of each code as the server sends it. */
import { STATUS_CODES } from 'node:http'
import { ERROR_CODES, type ErrorCode, ServiceError } from '../../contract/errors.ts'
import { ERROR_TABLE } from '../errors/error-table.ts'
import { buildProblemReply } from '../errors/problem-document.ts'

const RUN = 'demo'

/** A message of each code. test/openapi.test.ts finds each of them in the code that sends it. */
export const EXAMPLE_DETAILS: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'This suite would have 60000 items; the limit is 50000',
  invalid_json: 'The body is nested deeper than 100',
  invalid_config: 'The config is too large: an item id may have 2048 characters',
  invalid_item_id: 'The item id cannot be read; send it as POST /items gave it',
  seed_reserved: 'seed + index must be below 1073741824: larger ones are reserved for eval and training items',
  index_out_of_range: 'The task has 400 items, so there is none with index 400',
  make_failed: 'Row 7 has no item to train on: the library cannot make it',
  unauthorized:
    'Send a valid key: Authorization: Bearer KEY, or X-API-Key: KEY, or as the password in the URL: http://trainer:KEY@host',
  forbidden: 'A reader key is not allowed to do this; required role: trainer, admin',
  unknown_task: 'There is no task "leg_countin". Did you mean "leg_counting"?',
  unknown_run: `There is no run named "${RUN}"; its first use or a PUT creates it`,
  unknown_group: `Run ${RUN} has no group group-1, or the group is no longer retained`,
  unknown_batch: `Run ${RUN} has no open batch for step 0`,
  unknown_eval: 'There is no eval "eval-0123456789abcdef0123"',
  unknown_collection: `Run ${RUN} has no collection "collect-0123456789abcdef0123"`,
  unknown_duel: 'There is no duel "duel-0123456789abcdef0123"',
  unknown_suite: 'There is no suite "originals". The suites are: original, smoke',
  unknown_dump: 'There is no dump rollouts_0001.jsonl; GET /dumps lists the dumps',
  not_found: 'There is nothing at /item; GET /docs lists what there is',
  method_not_allowed: '/items takes POST',
  request_timeout: 'The request took too long to arrive',
  body_too_large: 'The body has more than 1048576 bytes, the limit here (decompressed)',
  unsupported_media_type: 'Send application/json',
  engine_version_mismatch: 'The item was made with reasoning-gym 0.1.24, but this server runs 0.1.25: take a new item',
  group_conflict: `Group group-1 of run ${RUN} was accepted with other content; send another group_id`,
  step_conflict: `The run ${RUN} already has 64 items for step 0, and a step keeps its items. Request 64, or leave out count.`,
  too_many_open_batches: `8 batches of the run ${RUN} are not acknowledged, the limit. Acknowledge them with POST /runs/{run}/batches/{step}/ack.`,
  batch_acknowledged: `Step 0 of run ${RUN} is acknowledged; ask for a later step`,
  dump_elsewhere: 'rollouts_0001.jsonl is on node node-2, in its folder data_dumps; request it there',
  would_restart: 'Changing seed restarts the item sequence of the run. Add ?restart=true to do so.',
  run_changed: `Run ${RUN} is being changed by too many calls at once; retry`,
  idempotency_in_progress: 'The first call with this Idempotency-Key is still in progress; retry',
  run_recreated: `There is no run ${RUN}: the one that If-Match names was deleted, or Redis lost it. Restore a checkpoint or PUT its settings, then name the new incarnation`,
  run_exists: `There is a run named ${RUN}: use another name, or delete it`,
  headers_too_large: 'URL and headers together may have 65536 bytes',
  rate_limited: 'The key of trainer 1 has used up this minute; retry in 12 s',
  too_many_active: 'This server runs 4 evals and collections, the most it may; retry when one has ended',
  buffer_full: `The buffer of run ${RUN} is full: take and acknowledge batches, raise buffer_max_groups, or post with "buffer": false`,
  engine_unavailable: 'The engine is down: the Python workers are starting',
  redis_unavailable: 'Redis did not answer within 5000 ms',
  redis_full: 'Redis has no memory left for this call',
  server_busy: 'Other large bodies take all memory that the server has for them; send this one again',
  items_not_ready: 'The item of position 12 is not ready yet',
  make_timeout: 'The item could not be made: the deadline has passed',
  make_out_of_memory:
    'Making this item takes more memory than a Python worker has; use a smaller config, or raise the limit',
  internal: 'The server failed; the log has the reason under this request id',
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
  const replies = codes.map((code) => buildProblemReply(new ServiceError(code, EXAMPLE_DETAILS[code])))
  return {
    description: `${sentence} ${describeCodes(codes)}`,
    ...(replies.some(({ headers }) => 'retry-after' in headers) && {
      headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
    }),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(
          replies.map(({ document }, k) => [codes[k], { summary: `${String(document.title)}.`, value: document }]),
        ),
      },
    },
  }
}

export function describeCodes(codes: readonly string[]): string {
  const quoted = codes.map((code) => `\`${code}\``)
  const last = quoted.pop() ?? ''
  return `The code is ${quoted.length > 0 ? `${quoted.join(', ')} or ${last}` : last}.`
}
