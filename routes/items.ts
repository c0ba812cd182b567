/** POST /items, GET /items/{id}, POST /items/find: creates items and returns them again. */

import { queryBoolean } from '@reasoning-gym-server/contract/common'
import { REMAKE_CODES } from '@reasoning-gym-server/contract/errors'
import { Item, ItemsRequest, UnmakeableItem } from '@reasoning-gym-server/contract/item'
import { ItemId } from '@reasoning-gym-server/contract/item-id'
import { DEFAULT_RUN, RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { RunsFeature } from '../src/features/runs/index.ts'
import type { App } from '../src/http/app.ts'
import { IdempotencyHeaders, ifMatchHeader, parsePreferWaitMs } from '../src/http/request-headers.ts'

/** `Retry-After` when `max_groups_ahead` is reached. */
const TRAINER_RETRY_AFTER_S = 2

const ItemsHeaders = IdempotencyHeaders.extend({
  ...ifMatchHeader,
  prefer: z
    .string()
    .optional()
    .describe(
      '`wait=N`: hold the response until all items of the step or the positions are made, for at most N seconds.',
    ),
})

const Answer = z.string().nullable().describe('Reference answer; null if the library has none.')
const Metadata = z.unknown().describe('Metadata of the library’s entry.')
const RevealedItem = z
  .strictObject({ ...Item.shape, answer: Answer, metadata: Metadata })
  .meta({ id: 'RevealedItem', description: 'The item with its reference answer.' })

export function addItemRoutes(app: App, { itemRequests }: RunsFeature): void {
  app.post(
    '/items',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'createItems',
        tags: ['items'],
        summary: 'Create items',
        description:
          'Takes the next items of a run, the items of a training step or of positions, or makes items from a recipe. The items of steps, positions and recipes are the same on every call; the next items of a run are handed out once, so send an `Idempotency-Key` if you retry. Reference answers are not included.',
        headers: ItemsHeaders,
        body: ItemsRequest.default({ run: DEFAULT_RUN, count: 1 }),
        response: {
          200: z
            .strictObject({
              items: z.array(Item).describe('Items that were created.'),
              waiting_for: z
                .literal('trainer')
                .optional()
                .describe('Set if `max_groups_ahead` is reached. Retry after the seconds in `Retry-After`.'),
              incomplete: z
                .literal(true)
                .optional()
                .describe('Set if there are fewer items of the run than `count`. Request the others later.'),
              detail: z.string().optional().describe('Why there are fewer, if `incomplete` is set.'),
              failed: z
                .array(UnmakeableItem)
                .optional()
                .describe(
                  'Items of the recipe that the library cannot make; `items` has the others, in order. If the library can make none, the call fails with `make_failed`.',
                ),
            })
            .meta({ id: 'ItemList', description: 'Items, or the reason why there are none.' }),
        },
        problems: [
          'invalid_config',
          'seed_reserved',
          'index_out_of_range',
          'unknown_run',
          'unknown_task',
          'step_conflict',
          'run_changed',
          'idempotency_in_progress',
          'items_not_ready',
          'make_failed',
          ...REMAKE_CODES,
        ],
      },
    },
    async ({ body, headers, caller, log }, reply) => {
      const served = await itemRequests.serve(body, {
        caller,
        idempotencyKey: headers['idempotency-key'],
        waitMs: parsePreferWaitMs(headers.prefer),
        condition: headers['if-match'],
        log,
      })
      if (served.waiting_for) reply.header('retry-after', TRAINER_RETRY_AFTER_S)
      return served
    },
  )
}

export function addKnownItemRoutes(app: App, { itemRequests }: RunsFeature): void {
  app.get(
    '/items/:id',
    {
      config: { access: 'readers', adminQuery: 'reveal' },
      schema: {
        operationId: 'getItem',
        tags: ['items'],
        summary: 'Get an item',
        description: 'Makes the item again from its ID, which encodes the recipe. Any node returns the same item.',
        params: z.strictObject({ id: ItemId }),
        querystring: z.strictObject({
          run: RunName.optional().describe(
            'Run whose instructions the messages have, and which may have drawn the item with a `propensity`. Without it, the default instructions apply.',
          ),
          reveal: queryBoolean()
            .default(false)
            .describe('If true, adds the reference answer and metadata. Requires the role admin.'),
        }),
        response: {
          200: z
            .strictObject({
              ...Item.shape,
              answer: Answer.optional().describe('Reference answer, with `reveal`; null if the library has none.'),
              metadata: Metadata.optional().describe('Metadata of the library’s entry, with `reveal`.'),
            })
            .meta({ id: 'ItemDetail', description: 'The item.' }),
        },
        problems: ['invalid_item_id', 'unknown_run', 'make_failed', ...REMAKE_CODES],
      },
    },
    ({ params, query }) =>
      query.reveal ? itemRequests.reveal(params.id, query.run) : itemRequests.get(params.id, query.run),
  )

  app.post(
    '/items/find',
    {
      config: { access: 'admins' },
      schema: {
        operationId: 'findItem',
        tags: ['items'],
        summary: 'Find an item by its question',
        description:
          'Returns the item that a question belongs to, with its reference answer, for clients that have only the text. The server knows items that were made in the last two hours.',
        body: z
          .strictObject({
            text: z.string().min(1).describe('Question, with or without its clarification, or a text that ends so.'),
          })
          .meta({ id: 'FindItemRequest', description: 'The question of the item to find.' }),
        response: {
          200: RevealedItem,
        },
        problems: ['not_found', ...REMAKE_CODES],
      },
    },
    ({ body }) => itemRequests.findByQuestion(body.text),
  )
}
