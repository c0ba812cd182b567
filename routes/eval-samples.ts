/** /eval/{id}/samples: the samples of an eval. */

import { queryBoolean } from '@reasoning-gym-server/contract/common'
import { EvalId } from '@reasoning-gym-server/contract/eval'
import {
  EvalSample,
  EvalSamplePage,
  SampleFilter,
  SampleId,
  SampleOrder,
} from '@reasoning-gym-server/contract/eval-sample'
import { z } from 'zod'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import type { App } from '../src/http/app.ts'
import { formatJsonLines, sendJsonLines } from '../src/http/streamed-responses.ts'

const EvalParams = z.strictObject({ id: EvalId })

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

export function addEvalSampleRoutes(app: App, { evals }: EvalsFeature): void {
  app.get(
    '/eval/:id/samples',
    {
      config: { access: 'readers' },
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
        },
        problems: ['unknown_eval'],
      },
    },
    async ({ params, query, caller }, reply) => {
      if (Object.keys(query).length > 0) {
        const { show = 'all', sort = 'suite', limit = DEFAULT_PAGE_SIZE, expected = false, ...rest } = query
        return reply.send(await evals.listSamples({ ...params, caller }, { show, sort, limit, expected, ...rest }))
      }
      const samples = await evals.streamSamples({ ...params, caller })
      return sendJsonLines(formatJsonLines(samples), reply)
    },
  )

  app.get(
    '/eval/:id/samples/:sample',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getEvalSample',
        tags: ['evals'],
        summary: 'Get a sample of an eval',
        description: 'Returns one sample, with its expected answer if the caller may see it.',
        params: EvalParams.extend({ sample: SampleId.describe('ID of the sample.') }),
        response: {
          200: EvalSample,
        },
        problems: ['not_found', 'unknown_eval'],
      },
    },
    ({ params, caller }) => evals.getSample({ id: params.id, caller }, params.sample),
  )
}
