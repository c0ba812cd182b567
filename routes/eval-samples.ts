/** /eval/{id}/…: what happens in an eval, its samples and its report; and completions that the caller brings. */
import { z } from 'zod'
import { eventStream } from '../src/evals/event-stream.ts'
import { htmlReport } from '../src/evals/report/html.ts'
import { markdownReport } from '../src/evals/report/markdown.ts'
import { sampleLines } from '../src/evals/sample-lines.ts'
import { Fault } from '../src/faults.ts'
import { jsonLine } from '../src/json-lines.ts'
import { sendLines } from '../src/plugins/files.ts'
import { CompletionInput, EvalSample, EvalView, SampleId } from '../src/words/eval.ts'
import { PromptMessage } from '../src/words/item.ts'
import { ItemId } from '../src/words/item-id.ts'
import { problems } from '../src/words/problem.ts'
import { textOf } from '../src/words/text.ts'
import type { App, Services } from './context.ts'
import { closingSignal, OfEval, openEval, sendEvents } from './eval-access.ts'

const COMPLETIONS_BODY_BYTES = 64 * 1024 * 1024
const COMPLETIONS_MOST = 4096
const ITEMS_MOST = 200_000

/** The page brings its own styles and asks for nothing. */
const REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

const Share = z
  .strictObject({
    rank: z.coerce.number().int().min(0).optional(),
    ranks: z.coerce.number().int().min(1).max(65_536).optional(),
    from: z.coerce.number().int().min(0).default(0).describe('The first of the share to give'),
    count: z.coerce.number().int().min(1).max(ITEMS_MOST).default(ITEMS_MOST),
  })
  .refine(({ rank, ranks }) => (rank === undefined) === (ranks === undefined), {
    path: ['rank'],
    message: 'rank and ranks come together',
  })
  .refine(({ rank = 0, ranks = 1 }) => rank < ranks, { path: ['rank'], message: 'must be below ranks' })

export function evalSamples(app: App, services: Services): void {
  const { evals, samplings, samples, brought } = services
  const closing = closingSignal(app)

  app.get(
    '/eval/:id/events',
    {
      schema: {
        tags: ['evals'],
        summary: 'Server-sent events: progress, then the result; Last-Event-ID resumes',
        params: OfEval,
        headers: z.looseObject({ 'last-event-id': z.string().max(64).optional() }),
        response: { 200: textOf('text/event-stream', 'Events'), ...problems('unknown_eval', 'redis_unavailable') },
      },
    },
    async ({ params, headers, caller }, reply) => {
      await openEval(services, params.id, caller)
      const events = eventStream(samplings, params.id, headers['last-event-id'] ?? '', closing)
      return sendEvents(events, reply)
    },
  )

  app.get(
    '/eval/:id/samples',
    {
      schema: {
        tags: ['evals'],
        summary: 'All samples, one JSON object a line',
        params: OfEval,
        response: {
          200: {
            description: 'The schema is of one line',
            content: { 'application/x-ndjson': { schema: EvalSample } },
          },
          ...problems('unknown_eval', 'redis_unavailable'),
        },
      },
    },
    async (request, reply) => {
      const found = await openEval(services, request.params.id, request.caller)
      return sendLines(linesOf(sampleLines(samples, found)), request, reply)
    },
  )

  app.get(
    '/eval/:id/report',
    {
      schema: {
        tags: ['evals'],
        summary: 'The result as a page of its own, or as Markdown',
        params: OfEval,
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
          ...problems('unknown_eval', 'redis_unavailable'),
        },
      },
    },
    async ({ params, query, caller }, reply) => {
      const view = evals.view(await openEval(services, params.id, caller))
      switch (query.format) {
        case 'json':
          return reply.send(view)
        case 'markdown':
          return reply.header('content-type', 'text/markdown; charset=utf-8').send(markdownReport(view))
        case 'html':
          return reply
            .header('content-security-policy', REPORT_POLICY)
            .header('content-type', 'text/html; charset=utf-8')
            .send(htmlReport(view))
      }
    },
  )

  app.get(
    '/eval/:id/items',
    {
      schema: {
        tags: ['evals'],
        summary: 'The samples to bring completions for: all, or one rank’s share',
        params: OfEval,
        querystring: Share,
        response: {
          200: z.strictObject({
            items: z.array(z.strictObject({ sample_id: SampleId, item_id: ItemId, messages: z.array(PromptMessage) })),
          }),
          ...problems(
            'invalid_request',
            'unknown_eval',
            'engine_version_mismatch',
            'engine_unavailable',
            'redis_unavailable',
            'make_timeout',
          ),
        },
      },
    },
    async ({ params, query: { rank = 0, ranks = 1, from, count }, caller }) => {
      const found = await openEval(services, params.id, caller)
      return { items: await brought.items(found, { rank, ranks, from, count }) }
    },
  )

  app.post(
    '/eval/:id/completions',
    {
      bodyLimit: COMPLETIONS_BODY_BYTES,
      schema: {
        tags: ['evals'],
        summary: 'Completions of one’s own; the same sample counts once, as it came first',
        params: OfEval,
        body: z.strictObject({ completions: z.array(CompletionInput).min(1).max(COMPLETIONS_MOST) }),
        response: {
          200: z.strictObject({ new: z.int(), ...EvalView.pick({ id: true, status: true, progress: true }).shape }),
          ...problems(
            'invalid_request',
            'unknown_eval',
            'engine_version_mismatch',
            'engine_unavailable',
            'redis_unavailable',
            'make_timeout',
          ),
        },
      },
    },
    async ({ params, body, caller }) => {
      const found = await openEval(services, params.id, caller)
      const over = found.status !== 'queued' && found.status !== 'running'
      if (over && found.status !== 'done') throw new Fault('invalid_request', `This eval was ${found.status}`)
      const count = over ? 0 : await brought.take(found, body.completions)
      const { id, status, progress } = evals.view(await evals.find(params.id))
      return { new: count, id, status, progress }
    },
  )

  app.post(
    '/eval/:id/finish',
    {
      schema: {
        tags: ['evals'],
        summary: 'Ends an eval of one’s own completions: what has not come is missing, never wrong',
        params: OfEval,
        body: z.strictObject({}).optional(),
        response: { 200: EvalView, ...problems('invalid_request', 'unknown_eval', 'redis_unavailable') },
      },
    },
    async ({ params, caller }) => {
      await openEval(services, params.id, caller)
      return evals.view(await evals.finish(params.id))
    },
  )
}

async function* linesOf(samples: AsyncIterable<EvalSample>): AsyncGenerator<string> {
  for await (const sample of samples) yield jsonLine(sample)
}
