/** /duels: two models answer the same items until it is clear which one is better. */

import { formatJsonLine } from '@reasoning-gym-server/codec/json-lines'
import { DuelId, DuelInput, DuelItem, DuelView } from '@reasoning-gym-server/contract/duel'
import { ModelApiKey } from '@reasoning-gym-server/contract/eval'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { textResponse } from '@reasoning-gym-server/contract/text-response'
import { z } from 'zod'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import { renderDuelHtml } from '../src/features/evals/report/duel-html.ts'
import { renderDuelMarkdown } from '../src/features/evals/report/duel-markdown.ts'
import type { App } from '../src/http/app.ts'
import { ifMatchHeader } from '../src/http/conditional-headers.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { sendJsonLines } from '../src/http/json-lines-responses.ts'
import {
  createShutdownSignal,
  IdempotencyHeaders,
  LastEventIdHeaders,
  REPORT_CSP,
  sendEventStream,
} from './eval-responses.ts'

const DuelParams = z.strictObject({ id: DuelId })

const DuelKeys = z
  .strictObject({
    api_key_a: ModelApiKey.optional().describe('API key of the first model.'),
    api_key_b: ModelApiKey.optional().describe('API key of the second model.'),
  })
  .meta({ id: 'DuelKeys', description: 'API keys of the models of a duel.' })
  .default({})
  .describe('API keys of the models. The server deletes them when the duel ends, so send them again.')

export function addDuelRoutes(app: App, { duels }: EvalsFeature): void {
  const closing = createShutdownSignal(app)

  app.post(
    '/duels',
    {
      schema: {
        operationId: 'startDuel',
        tags: ['evals'],
        summary: 'Start a duel',
        description:
          'Two models answer the same items until a sequential test shows which one is better, or that the difference is small. Send an `Idempotency-Key` if you retry.',
        headers: IdempotencyHeaders.extend(ifMatchHeader),
        body: DuelInput,
        response: {
          202: DuelView,
          ...problemResponses(
            'invalid_request',
            'invalid_config',
            'unknown_task',
            'run_changed',
            'run_recreated',
            'idempotency_in_progress',
            'too_many_active',
            'redis_unavailable',
          ),
        },
      },
    },
    async ({ body, headers, caller }, reply) => {
      const view = await duels.create(body, {
        caller,
        idempotencyKey: headers['idempotency-key'],
        condition: headers['if-match'],
      })
      return reply.status(202).header('location', `/duels/${view.id}`).send(view)
    },
  )

  app.get(
    '/duels',
    {
      schema: {
        operationId: 'listDuels',
        tags: ['evals'],
        summary: 'List duels',
        description: 'Returns duels, newest first.',
        querystring: z.strictObject({
          run: RunName.optional().describe('Only duels of this run.'),
          label: z
            .string()
            .optional()
            .describe('Only duels with this label. For labels with values: the name, the value or `name=value`.'),
          limit: z.coerce.number().int().min(1).max(1000).default(100).describe('Maximum number of duels.'),
        }),
        response: {
          200: z
            .strictObject({ duels: z.array(DuelView).describe('Duels, newest first.') })
            .meta({ id: 'DuelList', description: 'Duels that match the query.' }),
          ...problemResponses('redis_unavailable'),
        },
      },
    },
    async ({ query }) => ({ duels: await duels.list(query) }),
  )

  app.get(
    '/duels/:id',
    {
      schema: {
        operationId: 'getDuel',
        tags: ['evals'],
        summary: 'Get a duel',
        description: 'While the duel is active, its result is interim.',
        params: DuelParams,
        response: { 200: DuelView, ...problemResponses('unknown_duel', 'redis_unavailable') },
      },
    },
    ({ params, caller }) => duels.requireView(params.id, caller),
  )

  app.delete(
    '/duels/:id',
    {
      schema: {
        operationId: 'cancelDuel',
        tags: ['evals'],
        summary: 'Cancel a duel',
        description: 'Stops the duel and keeps its interim result. A duel that has ended does not change.',
        params: DuelParams,
        response: { 200: DuelView, ...problemResponses('unknown_duel', 'redis_unavailable') },
      },
    },
    ({ params, caller }) => duels.cancel(params.id, caller),
  )

  app.post(
    '/duels/:id/resume',
    {
      schema: {
        operationId: 'resumeDuel',
        tags: ['evals'],
        summary: 'Resume a duel',
        description: 'Continues a duel that was cancelled or failed. Samples with a score are kept.',
        params: DuelParams,
        body: DuelKeys,
        response: {
          202: DuelView,
          ...problemResponses('invalid_request', 'unknown_duel', 'too_many_active', 'redis_unavailable'),
        },
      },
    },
    async ({ params, body, caller }, reply) =>
      reply.status(202).send(await duels.resume(params.id, caller, { a: body.api_key_a, b: body.api_key_b })),
  )

  app.get(
    '/duels/:id/events',
    {
      schema: {
        operationId: 'streamDuelEvents',
        tags: ['evals'],
        summary: 'Stream the progress of a duel',
        description: 'Sends server-sent events: progress, then the result. `Last-Event-ID` resumes the stream.',
        params: DuelParams,
        headers: LastEventIdHeaders,
        response: {
          200: textResponse('text/event-stream', 'Server-sent events.'),
          ...problemResponses('unknown_duel', 'redis_unavailable'),
        },
      },
    },
    async ({ params, headers, caller }, reply) => {
      const events = await duels.streamEvents(params.id, caller, headers['last-event-id'] ?? '', closing)
      return sendEventStream(events, reply)
    },
  )

  app.get(
    '/duels/:id/items',
    {
      schema: {
        operationId: 'listDuelItems',
        tags: ['evals'],
        summary: 'List the items of a duel',
        description: 'Streams the items that both models have answered, one JSON object per line.',
        params: DuelParams,
        response: {
          200: {
            description: 'Items, one JSON object per line. The schema is that of one line.',
            content: { 'application/x-ndjson': { schema: DuelItem } },
          },
          ...problemResponses('unknown_duel', 'redis_unavailable'),
        },
      },
    },
    async ({ params, caller }, reply) =>
      sendJsonLines(formatItemLines(await duels.streamItems(params.id, caller)), reply),
  )

  app.get(
    '/duels/:id/report',
    {
      schema: {
        operationId: 'getDuelReport',
        tags: ['evals'],
        summary: 'Get the report of a duel',
        description: 'Returns the result as a self-contained HTML page, as Markdown or as JSON.',
        params: DuelParams,
        querystring: z.strictObject({
          format: z.enum(['html', 'markdown', 'json']).default('html').describe('Format of the report.'),
        }),
        response: {
          200: {
            description: 'The report.',
            content: {
              'text/html': { schema: z.string() },
              'text/markdown': { schema: z.string() },
              'application/json': { schema: DuelView },
            },
          },
          ...problemResponses('unknown_duel', 'redis_unavailable'),
        },
      },
    },
    async ({ params, query, caller }, reply) => {
      const view = await duels.requireView(params.id, caller)
      switch (query.format) {
        case 'json':
          return reply.send(view)
        case 'markdown':
          return reply.header('content-type', 'text/markdown; charset=utf-8').send(renderDuelMarkdown(view))
        case 'html':
          return reply
            .header('content-security-policy', REPORT_CSP)
            .header('content-type', 'text/html; charset=utf-8')
            .send(renderDuelHtml(view))
      }
    },
  )
}

async function* formatItemLines(items: AsyncIterable<DuelItem>): AsyncGenerator<string> {
  for await (const item of items) yield formatJsonLine(item)
}
