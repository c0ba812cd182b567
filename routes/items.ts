/** POST /items, GET /items/{id}: tasks made real. */
import { z } from 'zod'
import { Item, UnmakeableItem } from '../src/contract/item.ts'
import { ItemId } from '../src/contract/item-id.ts'
import { ItemsRequest } from '../src/contract/items-request.ts'
import { RunName } from '../src/contract/rollout.ts'
import type { RunsFeature } from '../src/features/runs/index.ts'
import type { App } from '../src/http/app.ts'
import { ifMatchHeader } from '../src/http/conditional-headers.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { parsePreferWaitMs } from '../src/http/prefer-header.ts'
import { IdempotencyHeaders } from './eval-responses.ts'

/** Seconds after which a caller over max_groups_ahead may ask again. */
const TRAINER_RETRY_AFTER_S = 2

const ItemsHeaders = IdempotencyHeaders.extend({
  ...ifMatchHeader,
  prefer: z
    .string()
    .optional()
    .describe('`wait=N`: hold the items of a step or of positions until all are made, N seconds at most'),
})

const RevealedItem = z.strictObject({ ...Item.shape, answer: z.string().nullable(), metadata: z.unknown() })

export function addItemRoutes(app: App, { itemRequests }: RunsFeature): void {
  app.post(
    '/items',
    {
      schema: {
        operationId: 'createItems',
        tags: ['items'],
        summary: 'The next items of a run, those of one of its steps or of positions, or the items of a recipe',
        headers: ItemsHeaders,
        body: ItemsRequest.default({ run: 'default', count: 1 }),
        response: {
          200: z.strictObject({
            items: z.array(Item),
            waiting_for: z.literal('trainer').optional().describe('max_groups_ahead is reached; `Retry-After` is set'),
            failed: z
              .array(UnmakeableItem)
              .optional()
              .describe(
                'Items of the recipe that the library cannot make; `items` has the others, in order. If it can make none, the call fails with `make_failed`',
              ),
          }),
          ...problemResponses(
            'invalid_request',
            'invalid_json',
            'invalid_config',
            'seed_reserved',
            'index_out_of_range',
            'unknown_task',
            'engine_version_mismatch',
            'step_conflict',
            'run_changed',
            'run_recreated',
            'idempotency_in_progress',
            'engine_unavailable',
            'redis_unavailable',
            'items_not_ready',
            'make_failed',
            'make_timeout',
            'make_out_of_memory',
          ),
        },
      },
    },
    async ({ body, headers, caller, log }, reply) => {
      const served = await itemRequests.serve(body, {
        callerId: caller.id,
        idempotencyKey: headers['idempotency-key'],
        waitMs: parsePreferWaitMs(headers.prefer),
        condition: headers['if-match'],
        log,
      })
      if (served.waiting_for) reply.header('retry-after', TRAINER_RETRY_AFTER_S)
      return served
    },
  )

  app.get(
    '/items/:id',
    {
      schema: {
        operationId: 'getItem',
        tags: ['items'],
        summary: 'An item again from its id',
        params: z.strictObject({ id: ItemId }),
        querystring: z.strictObject({
          run: RunName.optional().describe('Whose prompt to show'),
          reveal: z.stringbool().default(false).describe('Adds the answer and the metadata (admin)'),
        }),
        response: {
          200: z.strictObject({
            ...Item.shape,
            answer: z.string().nullable().optional(),
            metadata: z.unknown().optional(),
          }),
          ...problemResponses(
            'invalid_request',
            'invalid_item_id',
            'unknown_run',
            'engine_version_mismatch',
            'engine_unavailable',
            'make_failed',
            'make_timeout',
            'make_out_of_memory',
          ),
        },
      },
    },
    ({ params, query }) =>
      query.reveal ? itemRequests.reveal(params.id, query.run) : itemRequests.get(params.id, query.run),
  )

  app.post(
    '/items/find',
    {
      schema: {
        operationId: 'findItem',
        tags: ['items'],
        summary: 'The item that a question belongs to, with its answer (admin)',
        description: 'For who has the text alone, as a model has. Known are items made in the last two hours.',
        body: z.strictObject({ text: z.string().min(1).describe('The question, or a text that ends with it') }),
        response: {
          200: RevealedItem,
          ...problemResponses(
            'invalid_request',
            'invalid_json',
            'not_found',
            'engine_version_mismatch',
            'engine_unavailable',
            'redis_unavailable',
            'make_timeout',
            'make_out_of_memory',
          ),
        },
      },
    },
    ({ body }) => itemRequests.findByQuestion(body.text),
  )
}
