/** POST /items, GET /items/{id}: tasks made real. */
import { z } from 'zod'
import { Item } from '../src/contract/item.ts'
import { ItemId } from '../src/contract/item-id.ts'
import { ItemsRequest } from '../src/contract/items-request.ts'
import type { RecipeInput } from '../src/contract/recipe.ts'
import { RunName } from '../src/contract/rollout.ts'
import { DEFAULT_PROMPT_SETTINGS } from '../src/features/items/prompt.ts'
import type { DequeuedItems } from '../src/features/runs/item-queue.ts'
import type { ResolvedRun } from '../src/features/runs/resolved-run.ts'
import { createRunLogger, type ParentLogger } from '../src/features/runs/run-logger.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { parsePreferWaitMs } from '../src/http/prefer-header.ts'
import type { Services } from './context.ts'
import { IdempotencyHeaders } from './eval-responses.ts'

/** Seconds after which a caller over max_groups_ahead may ask again. */
const TRAINER_RETRY_AFTER_S = 2

const ItemsHeaders = IdempotencyHeaders.extend({
  prefer: z.string().optional().describe('`wait=N`: hold the items of a step until all are made, N seconds at most'),
})

const RevealedItem = z.strictObject({ ...Item.shape, answer: z.string().nullable(), metadata: z.unknown() })

export function addItemRoutes(app: App, services: Services): void {
  const { items, runs, metrics, idempotency } = services
  app.post(
    '/items',
    {
      schema: {
        operationId: 'createItems',
        tags: ['items'],
        summary: 'The next items of a run, those of one of its steps, or the items of a recipe',
        headers: ItemsHeaders,
        body: ItemsRequest.default({ run: 'default', count: 1 }),
        response: {
          200: z.strictObject({
            items: z.array(Item),
            waiting_for: z.literal('trainer').optional().describe('max_groups_ahead is reached; `Retry-After` is set'),
          }),
          ...problemResponses(
            'invalid_request',
            'invalid_json',
            'invalid_config',
            'seed_reserved',
            'index_out_of_range',
            'unknown_task',
            'engine_version_mismatch',
            'run_changed',
            'idempotency_in_progress',
            'engine_unavailable',
            'redis_unavailable',
            'items_not_ready',
            'make_timeout',
            'make_out_of_memory',
          ),
        },
      },
    },
    async ({ body, headers, caller, log }, reply) => {
      const ask = { scope: `items ${caller.id}`, key: headers['idempotency-key'], body }
      const answer = await idempotency.runOnce(ask, async () => {
        const handed = await getRequestedItems(services, body, parsePreferWaitMs(headers.prefer), log)
        metrics.recorder.recordServedItems(handed.items)
        return { status: 200, body: handed }
      })
      if (answer.body.waiting_for) reply.header('retry-after', TRAINER_RETRY_AFTER_S)
      return answer.body
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
            'make_timeout',
            'make_out_of_memory',
          ),
        },
      },
    },
    async ({ params, query }) => {
      const prompt = query.run === undefined ? DEFAULT_PROMPT_SETTINGS : (await runs.require(query.run)).settings
      const item = await items.getOrCreateOne(await items.resolveItemId(params.id))
      return { ...items.formatItem(item, prompt), ...(query.reveal && item.entry) }
    },
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
    async ({ body }) => {
      const made = await items.requireByQuestion(body.text)
      return { ...items.formatItem(made, DEFAULT_PROMPT_SETTINGS), ...made.entry }
    },
  )
}

/** The chosen tasks and difficulties, for a run that wants to know. */
function logHandedOutItems(log: ParentLogger, { name, settings }: ResolvedRun, items: Item[]): void {
  const { debug } = createRunLogger(log, name, settings)
  for (const { id, task, difficulty } of items) debug?.({ item_id: id, task, difficulty }, 'an item is handed out')
}

function expandRecipes(ask: Extract<ItemsRequest, { task: string }>): RecipeInput[] {
  if ('seeds' in ask) {
    const { seeds, ...recipe } = ask
    return seeds.map((seed) => ({ ...recipe, seed }))
  }
  const { count, ...recipe } = ask
  return Array.from({ length: count }, (_, k) => ({ ...recipe, index: recipe.index + k }))
}

/** The items that a body asks for. */
async function getRequestedItems(
  services: Services,
  ask: ItemsRequest,
  waitMs: number,
  log: ParentLogger,
): Promise<DequeuedItems> {
  const { items, runs, itemQueue: handout, stepItems } = services
  if ('task' in ask) {
    const made = await items.getOrCreate(
      await Promise.all(expandRecipes(ask).map((recipe) => items.resolveRecipe(recipe))),
    )
    return { items: made.map((item) => items.formatItem(item, DEFAULT_PROMPT_SETTINGS)) }
  }
  const run = await runs.getOrCreate(ask.run)
  const handed =
    'step' in ask ? { items: await stepItems.requireItems(run, ask, waitMs) } : await handout.next(run, ask.count)
  logHandedOutItems(log, run, handed.items)
  return handed
}
