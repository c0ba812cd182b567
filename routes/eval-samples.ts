/** /eval/{id}/…: what happens in an eval, its samples and its report; and completions that the caller brings. */
import { z } from 'zod'
import { formatJsonLine } from '../src/codec/json-lines.ts'
import { ServiceError } from '../src/contract/errors.ts'
import { CompletionInput, EvalSample, EvalView, SampleId } from '../src/contract/eval.ts'
import { PromptMessage } from '../src/contract/item.ts'
import { ItemId } from '../src/contract/item-id.ts'
import { textResponse } from '../src/contract/text-response.ts'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import { streamJobEvents } from '../src/features/evals/job-event-stream.ts'
import { renderHtmlReport } from '../src/features/evals/report/html.ts'
import { renderMarkdownReport } from '../src/features/evals/report/markdown.ts'
import { streamEvalSamples } from '../src/features/evals/sample-stream.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { sendJsonLines } from '../src/http/json-lines-responses.ts'
import { createShutdownSignal, EvalParams, requireEvalForCaller, sendEventStream } from './eval-responses.ts'

const COMPLETIONS_BODY_BYTES = 64 * 1024 * 1024
const MAX_COMPLETIONS = 4096
const MAX_ITEMS = 200_000

/** The page brings its own styles and asks for nothing. */
const REPORT_CSP = "default-src 'none'; style-src 'unsafe-inline'"

const EvalItemsQuery = z
  .strictObject({
    rank: z.coerce.number().int().min(0).optional(),
    ranks: z.coerce.number().int().min(1).max(65_536).optional(),
    from: z.coerce.number().int().min(0).default(0).describe('The first of the share to give'),
    count: z.coerce.number().int().min(1).max(MAX_ITEMS).default(MAX_ITEMS),
  })
  .refine(({ rank, ranks }) => (rank === undefined) === (ranks === undefined), {
    path: ['rank'],
    message: 'rank and ranks come together',
  })
  .refine(({ rank = 0, ranks = 1 }) => rank < ranks, { path: ['rank'], message: 'must be below ranks' })

export function addEvalSampleRoutes(app: App, feature: EvalsFeature): void {
  const { evals, generationJobs, samples, externalCompletions } = feature
  const closing = createShutdownSignal(app)

  app.get(
    '/eval/:id/events',
    {
      schema: {
        operationId: 'streamEvalEvents',
        tags: ['evals'],
        summary: 'Server-sent events: progress, then the result; Last-Event-ID resumes',
        params: EvalParams,
        headers: z.looseObject({ 'last-event-id': z.string().max(64).optional() }),
        response: {
          200: textResponse('text/event-stream', 'Events'),
          ...problemResponses('unknown_eval', 'redis_unavailable'),
        },
      },
    },
    async ({ params, headers, caller }, reply) => {
      await requireEvalForCaller(feature, params.id, caller)
      const events = streamJobEvents(generationJobs, params.id, headers['last-event-id'] ?? '', closing)
      return sendEventStream(events, reply)
    },
  )

  app.get(
    '/eval/:id/samples',
    {
      schema: {
        operationId: 'listEvalSamples',
        tags: ['evals'],
        summary: 'All samples, one JSON object a line',
        params: EvalParams,
        response: {
          200: {
            description: 'The schema is of one line',
            content: { 'application/x-ndjson': { schema: EvalSample } },
          },
          ...problemResponses('unknown_eval', 'redis_unavailable'),
        },
      },
    },
    async (request, reply) => {
      const found = await requireEvalForCaller(feature, request.params.id, request.caller)
      return sendJsonLines(formatSampleLines(streamEvalSamples(samples, found)), reply)
    },
  )

  app.get(
    '/eval/:id/report',
    {
      schema: {
        operationId: 'getEvalReport',
        tags: ['evals'],
        summary: 'The result as a page of its own, or as Markdown',
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
      const view = evals.buildView(await requireEvalForCaller(feature, params.id, caller))
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
        summary: 'The samples to bring completions for: all, or one rank’s share',
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
    async ({ params, query: { rank = 0, ranks = 1, from, count }, caller }) => {
      const found = await requireEvalForCaller(feature, params.id, caller)
      return { items: await externalCompletions.listSamplePrompts(found, { rank, ranks, from, count }) }
    },
  )

  app.post(
    '/eval/:id/completions',
    {
      bodyLimit: COMPLETIONS_BODY_BYTES,
      schema: {
        operationId: 'submitEvalCompletions',
        tags: ['evals'],
        summary: 'Completions of one’s own; the same sample counts once, as it came first',
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
            'make_timeout',
            'make_out_of_memory',
          ),
        },
      },
    },
    async ({ params, body, caller }) => {
      const found = await requireEvalForCaller(feature, params.id, caller)
      const over = found.status !== 'queued' && found.status !== 'running'
      if (over && found.status !== 'done') throw new ServiceError('invalid_request', `This eval was ${found.status}`)
      const count = over ? 0 : await externalCompletions.submit(found, body.completions)
      const { id, status, progress } = evals.buildView(await evals.require(params.id))
      return { new: count, id, status, progress }
    },
  )

  app.post(
    '/eval/:id/finish',
    {
      schema: {
        operationId: 'finishEval',
        tags: ['evals'],
        summary: 'Ends an eval of one’s own completions: what has not come is missing, never wrong',
        params: EvalParams,
        body: z.strictObject({}).optional(),
        response: { 200: EvalView, ...problemResponses('invalid_request', 'unknown_eval', 'redis_unavailable') },
      },
    },
    async ({ params, caller }) => {
      await requireEvalForCaller(feature, params.id, caller)
      return evals.buildView(await evals.finish(params.id))
    },
  )
}

async function* formatSampleLines(samples: AsyncIterable<EvalSample>): AsyncGenerator<string> {
  for await (const sample of samples) yield formatJsonLine(sample)
}
