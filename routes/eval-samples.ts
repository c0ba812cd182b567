/** /eval/{id}/…: the events, samples and report of an eval, and completions that the caller supplies. */

import { formatJsonLine } from '@reasoning-gym-server/codec/json-lines'
import {
  CompletionInput,
  EvalSample,
  EvalSamplePage,
  EvalView,
  SampleFilter,
  SampleId,
  SampleOrder,
} from '@reasoning-gym-server/contract/eval'
import { PromptMessage } from '@reasoning-gym-server/contract/item'
import { ItemId } from '@reasoning-gym-server/contract/item-id'
import { queryBoolean } from '@reasoning-gym-server/contract/query-boolean'
import { textResponse } from '@reasoning-gym-server/contract/text-response'
import { z } from 'zod'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import { renderHtmlReport } from '../src/features/evals/report/html.ts'
import { renderMarkdownReport } from '../src/features/evals/report/markdown.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { sendJsonLines } from '../src/http/json-lines-responses.ts'
import { createShutdownSignal, EvalParams, LastEventIdHeaders, REPORT_CSP, sendEventStream } from './eval-responses.ts'

const COMPLETIONS_BODY_BYTES = 64 * 1024 * 1024
const MAX_COMPLETIONS = 4096
const MAX_ITEMS = 200_000

const DEFAULT_PAGE_SIZE = 50

/** Any of these selects one page. Without them, the route streams all samples. */
const EvalSamplesQuery = z.strictObject({
  ...SampleFilter.partial().shape,
  show: SampleFilter.shape.show
    .unwrap()
    .optional()
    .describe(`${SampleFilter.shape.show.description} \`all\` if absent.`), // with its default, every query would have a field
  sort: SampleOrder.optional().describe('Order of the samples; `suite` if absent.'),
  cursor: SampleId.optional().describe('Value of `next_cursor` from the previous page.'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .optional()
    .describe('Maximum number of samples of the page; 50 if absent.'),
  expected: queryBoolean()
    .optional()
    .describe(
      'If true, adds the expected answers. 403 `forbidden` while the eval is active, except for the role admin.',
    ),
})

const EvalItemsQuery = z
  .strictObject({
    rank: z.coerce.number().int().min(0).optional().describe('Rank of the caller, counted from 0. Requires `ranks`.'),
    ranks: z.coerce
      .number()
      .int()
      .min(1)
      .max(65_536)
      .optional()
      .describe('Number of ranks that share the samples. Requires `rank`.'),
    from: z.coerce
      .number()
      .int()
      .min(0)
      .default(0)
      .describe('Position of the first sample to return, within the share.'),
    count: z.coerce.number().int().min(1).max(MAX_ITEMS).default(MAX_ITEMS).describe('Maximum number of samples.'),
  })
  .refine(({ rank, ranks }) => (rank === undefined) === (ranks === undefined), {
    path: ['rank'],
    message: 'missing: rank and ranks must be given together',
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
        summary: 'Stream the progress of an eval',
        description: 'Sends server-sent events: progress, then the result. `Last-Event-ID` resumes the stream.',
        params: EvalParams,
        headers: LastEventIdHeaders,
        response: {
          200: textResponse('text/event-stream', 'Server-sent events.'),
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
        summary: 'List the samples of an eval',
        description:
          'Without parameters, streams all samples, one JSON object per line. With any parameter, returns one page as JSON. A page examines at most 20,000 samples and 8 MB of compressed texts; `next_cursor` continues.',
        params: EvalParams,
        querystring: EvalSamplesQuery,
        response: {
          200: {
            description: 'One page, or all samples as JSON lines (the schema is that of one line).',
            content: { 'application/x-ndjson': { schema: EvalSample }, 'application/json': { schema: EvalSamplePage } },
          },
          ...problemResponses('invalid_request', 'unknown_eval', 'redis_unavailable'),
        },
      },
    },
    async ({ params, query, caller }, reply) => {
      if (Object.keys(query).length > 0) {
        const { show = 'all', sort = 'suite', limit = DEFAULT_PAGE_SIZE, expected = false, ...rest } = query
        return reply.send(await evals.listSamples(params.id, caller, { show, sort, limit, expected, ...rest }))
      }
      const samples = await evals.streamSamples(params.id, caller)
      return sendJsonLines(formatSampleLines(samples), reply)
    },
  )

  app.get(
    '/eval/:id/samples/:sample',
    {
      schema: {
        operationId: 'getEvalSample',
        tags: ['evals'],
        summary: 'Get a sample of an eval',
        description: 'Returns one sample, with its expected answer if the caller may see it.',
        params: EvalParams.extend({ sample: SampleId.describe('ID of the sample.') }),
        response: {
          200: EvalSample,
          ...problemResponses('invalid_request', 'not_found', 'unknown_eval', 'redis_unavailable'),
        },
      },
    },
    ({ params, caller }) => evals.getSample(params.id, params.sample, caller),
  )

  app.get(
    '/eval/:id/report',
    {
      schema: {
        operationId: 'getEvalReport',
        tags: ['evals'],
        summary: 'Get the report of an eval',
        description: 'Returns the result as a self-contained HTML page, as Markdown or as JSON.',
        params: EvalParams,
        querystring: z.strictObject({
          format: z.enum(['html', 'markdown', 'json']).default('html').describe('Format of the report.'),
        }),
        response: {
          200: {
            description: 'The report.',
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
        summary: 'List the prompts of an eval',
        description: 'Returns the samples that need completions from you: all of them, or one rank’s share.',
        params: EvalParams,
        querystring: EvalItemsQuery,
        response: {
          200: z
            .strictObject({
              items: z
                .array(
                  z
                    .strictObject({
                      sample_id: SampleId.describe('ID of the sample.'),
                      item_id: ItemId,
                      messages: z.array(PromptMessage).describe('Prompt for the model.'),
                    })
                    .meta({ id: 'EvalItem', description: 'A sample of an eval with its prompt.' }),
                )
                .describe('Samples that need a completion.'),
            })
            .meta({ id: 'EvalItemList', description: 'Prompts of the samples.' }),
          ...problemResponses(
            'invalid_request',
            'unknown_eval',
            'engine_version_mismatch',
            'task_code_conflict',
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
        summary: 'Submit completions for an eval',
        description: 'Only the first completion of each sample counts, so repeating the call is safe.',
        params: EvalParams,
        body: z
          .strictObject({
            completions: z.array(CompletionInput).min(1).max(MAX_COMPLETIONS).describe('Completions to submit.'),
          })
          .meta({ id: 'EvalCompletions', description: 'Completions of samples of an eval.' }),
        response: {
          200: z
            .strictObject({
              new: z.int().describe('Number of completions that were not known before.'),
              ...EvalView.pick({ id: true, status: true, progress: true }).shape,
            })
            .meta({
              id: 'EvalCompletionsReceipt',
              description: 'Number of new completions, and progress of the eval.',
            }),
          ...problemResponses(
            'invalid_request',
            'unknown_eval',
            'engine_version_mismatch',
            'task_code_conflict',
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
        summary: 'Finish an eval',
        description:
          'Ends an eval whose completions you post. Samples without a completion count as missing, never as wrong.',
        params: EvalParams,
        body: z.strictObject({}).meta({ id: 'EmptyRequest', description: 'An object without fields.' }).optional(),
        response: { 200: EvalView, ...problemResponses('invalid_request', 'unknown_eval', 'redis_unavailable') },
      },
    },
    ({ params, caller }) => evals.finish(params.id, caller),
  )
}

async function* formatSampleLines(samples: AsyncIterable<EvalSample>): AsyncGenerator<string> {
  for await (const sample of samples) yield formatJsonLine(sample)
}
