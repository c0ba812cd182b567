/** /eval/{id}/…: the events, samples and report of an eval, and completions that the caller supplies. */
import { z } from 'zod'
import { formatJsonLine } from '../src/codec/json-lines.ts'
import { CompletionInput, EvalSample, EvalView, SampleId } from '../src/contract/eval.ts'
import { PromptMessage } from '../src/contract/item.ts'
import { ItemId } from '../src/contract/item-id.ts'
import { textResponse } from '../src/contract/text-response.ts'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import { renderHtmlReport } from '../src/features/evals/report/html.ts'
import { renderMarkdownReport } from '../src/features/evals/report/markdown.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { sendJsonLines } from '../src/http/json-lines-responses.ts'
import { createShutdownSignal, EvalParams, REPORT_CSP, sendEventStream } from './eval-responses.ts'

const COMPLETIONS_BODY_BYTES = 64 * 1024 * 1024
const MAX_COMPLETIONS = 4096
const MAX_ITEMS = 200_000

const EvalItemsQuery = z
  .strictObject({
    rank: z.coerce.number().int().min(0).optional(),
    ranks: z.coerce.number().int().min(1).max(65_536).optional(),
    from: z.coerce.number().int().min(0).default(0).describe('Position in the share of the first item to return'),
    count: z.coerce.number().int().min(1).max(MAX_ITEMS).default(MAX_ITEMS),
  })
  .refine(({ rank, ranks }) => (rank === undefined) === (ranks === undefined), {
    path: ['rank'],
    message: 'give both rank and ranks, or neither',
  })
  .refine(({ rank = 0, ranks = 1 }) => rank < ranks, { path: ['rank'], message: 'must be below ranks' })

export function addEvalSampleRoutes(app: App, { evals }: EvalsFeature): void {
  const closing = createShutdownSignal(app)

  app.get(
    '/eval/:id/events',
    {
      schema: {
        operationId: 'streamEvalEvents',
        tags: ['evals'],
        summary: 'Stream server-sent events: progress, then the result. Last-Event-ID resumes the stream',
        params: EvalParams,
        headers: z.looseObject({ 'last-event-id': z.string().max(64).optional() }),
        response: {
          200: textResponse('text/event-stream', 'Events'),
          ...problemResponses('unknown_eval', 'redis_unavailable'),
        },
      },
    },
    async ({ params, headers, caller }, reply) => {
      const events = await evals.streamEvents(params.id, caller, headers['last-event-id'] ?? '', closing)
      return sendEventStream(events, reply)
    },
  )

  app.get(
    '/eval/:id/samples',
    {
      schema: {
        operationId: 'listEvalSamples',
        tags: ['evals'],
        summary: 'Stream all samples, one JSON object per line',
        params: EvalParams,
        response: {
          200: {
            description: 'The schema of one line',
            content: { 'application/x-ndjson': { schema: EvalSample } },
          },
          ...problemResponses('unknown_eval', 'redis_unavailable'),
        },
      },
    },
    async ({ params, caller }, reply) => {
      const samples = await evals.streamSamples(params.id, caller)
      return sendJsonLines(formatSampleLines(samples), reply)
    },
  )

  app.get(
    '/eval/:id/report',
    {
      schema: {
        operationId: 'getEvalReport',
        tags: ['evals'],
        summary: 'Get the result as a self-contained HTML page, as Markdown or as JSON',
        params: EvalParams,
        querystring: z.strictObject({ format: z.enum(['html', 'markdown', 'json']).default('html') }),
        response: {
          200: {
            description: 'The report',
            content: {
              'text/html': { schema: z.string() },
              'text/markdown': { schema: z.string() },
              'application/json': { schema: EvalView },
            },
          },
          ...problemResponses('unknown_eval', 'redis_unavailable'),
        },
      },
    },
    async ({ params, query, caller }, reply) => {
      const view = await evals.requireView(params.id, caller)
      switch (query.format) {
        case 'json':
          return reply.send(view)
        case 'markdown':
          return reply.header('content-type', 'text/markdown; charset=utf-8').send(renderMarkdownReport(view))
        case 'html':
          return reply
            .header('content-security-policy', REPORT_CSP)
            .header('content-type', 'text/html; charset=utf-8')
            .send(renderHtmlReport(view))
      }
    },
  )

  app.get(
    '/eval/:id/items',
    {
      schema: {
        operationId: 'listEvalItems',
        tags: ['evals'],
        summary: 'List the samples that need completions: all, or one rank’s share',
        params: EvalParams,
        querystring: EvalItemsQuery,
        response: {
          200: z.strictObject({
            items: z.array(z.strictObject({ sample_id: SampleId, item_id: ItemId, messages: z.array(PromptMessage) })),
          }),
          ...problemResponses(
            'invalid_request',
            'unknown_eval',
            'engine_version_mismatch',
            'engine_unavailable',
            'redis_unavailable',
            'make_timeout',
            'make_out_of_memory',
          ),
        },
      },
    },
    async ({ params, query: { rank = 0, ranks = 1, from, count }, caller }) => ({
      items: await evals.listSamplePrompts(params.id, caller, { rank, ranks, from, count }),
    }),
  )

  app.post(
    '/eval/:id/completions',
    {
      bodyLimit: COMPLETIONS_BODY_BYTES,
      schema: {
        operationId: 'submitEvalCompletions',
        tags: ['evals'],
        summary: 'Submit completions. Only the first completion of a sample counts',
        params: EvalParams,
        body: z.strictObject({ completions: z.array(CompletionInput).min(1).max(MAX_COMPLETIONS) }),
        response: {
          200: z.strictObject({ new: z.int(), ...EvalView.pick({ id: true, status: true, progress: true }).shape }),
          ...problemResponses(
            'invalid_request',
            'unknown_eval',
            'engine_version_mismatch',
            'engine_unavailable',
            'redis_unavailable',
            'make_failed',
            'make_timeout',
            'make_out_of_memory',
          ),
        },
      },
    },
    ({ params, body, caller }) => evals.submitCompletions(params.id, caller, body.completions),
  )

  app.post(
    '/eval/:id/finish',
    {
      schema: {
        operationId: 'finishEval',
        tags: ['evals'],
        summary: 'End an eval of external completions. Samples without one count as missing, never as wrong',
        params: EvalParams,
        body: z.strictObject({}).optional(),
        response: { 200: EvalView, ...problemResponses('invalid_request', 'unknown_eval', 'redis_unavailable') },
      },
    },
    ({ params, caller }) => evals.finish(params.id, caller),
  )
}

async function* formatSampleLines(samples: AsyncIterable<EvalSample>): AsyncGenerator<string> {
  for await (const sample of samples) yield formatJsonLine(sample)
}
