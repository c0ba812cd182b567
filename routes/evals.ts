/** /eval: measures a model on a suite. */
import { Readable } from 'node:stream'
import { z } from 'zod'
import { formatJsonLine } from '../src/codec/json-lines.ts'
import { EvalId, EvalInput, EvalSummary, EvalView } from '../src/contract/eval.ts'
import { EvalComparison, FlippedItem } from '../src/contract/eval-comparison.ts'
import { TaskName } from '../src/contract/recipe.ts'
import { RunName } from '../src/contract/rollout.ts'
import { Suite, SuiteName, SuiteSummary } from '../src/contract/suite.ts'
import { ENGINE_VERSION } from '../src/engine/version.ts'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import { renderEvalReport } from '../src/features/evals/markdown.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { sendJsonLines } from '../src/http/json-lines-responses.ts'
import { addGenerationJobRoutes, ModelKeyBody } from './generation-jobs.ts'

const EvalParams = z.strictObject({ id: EvalId })

export function addEvalRoutes(app: App, { evals, suites }: EvalsFeature): void {
  addGenerationJobRoutes(app, evals.jobs, {
    path: '/eval',
    params: EvalParams,
    tag: 'evals',
    name: 'Eval',
    noun: 'an eval',
    unknownCode: 'unknown_eval',
    input: EvalInput,
    view: EvalView,
    start: {
      description:
        'Measures a model on a suite. The server requests the completions from the model’s API, or, with `"model": null`, you post them. Send an `Idempotency-Key` if you retry.',
      problems: [
        'invalid_request',
        'invalid_config',
        'unknown_task',
        'unknown_suite',
        'run_changed',
        'run_recreated',
        'idempotency_in_progress',
        'too_many_active',
        'redis_unavailable',
      ],
    },
    list: {
      summary: 'List evals',
      description: 'Returns evals, newest first. With `run`, returns the evals of a run: its learning curve.',
      query: z.strictObject({
        run: RunName.optional().describe('Only evals of this run.'),
        suite: z.string().optional().describe('Only evals on this suite.'),
        label: z
          .string()
          .optional()
          .describe('Only evals with this label. For labels with values: the name, the value or `name=value`.'),
        model: z.string().optional().describe('Only evals of the model with this name.'),
        q: z
          .string()
          .max(200)
          .optional()
          .describe('Only evals whose ID, status, model, suite, run or labels contain these words.'),
        limit: z.coerce.number().int().min(1).max(1000).default(100).describe('Maximum number of evals.'),
      }),
      response: z
        .strictObject({ evals: z.array(EvalSummary).describe('Evals, newest first.') })
        .meta({ id: 'EvalList', description: 'Evals that match the query.' }),
      field: 'evals',
      problems: ['redis_unavailable'],
    },
    cancel: {
      description:
        'Stops the eval. Its result covers the samples that are done. An eval that has ended does not change.',
    },
    resume: {
      description: 'Continues an eval that was cancelled or has failed samples. Samples with a score are kept.',
      body: ModelKeyBody,
      listApiKeys: ({ api_key }) => [api_key],
      problems: ['invalid_request', 'unknown_eval', 'too_many_active', 'redis_unavailable'],
    },
    report: { render: renderEvalReport },
  })

  app.get(
    '/eval/suites',
    {
      schema: {
        operationId: 'listSuites',
        tags: ['evals'],
        summary: 'List frozen suites',
        response: {
          200: z
            .strictObject({ suites: z.array(SuiteSummary).describe('Frozen suites.') })
            .meta({ id: 'SuiteList', description: 'Frozen suites.' }),
        },
      },
    },
    () => ({ suites: suites.list() }),
  )

  app.get(
    '/eval/suites/:suite',
    {
      schema: {
        operationId: 'getSuite',
        tags: ['evals'],
        summary: 'Get a suite with its recipes',
        params: z.strictObject({ suite: SuiteName }),
        response: { 200: Suite, ...problemResponses('unknown_suite') },
      },
    },
    ({ params }) => ({
      ...suites.require(params.suite),
      engine: ENGINE_VERSION,
      recipes: suites.listRecipes(params.suite),
    }),
  )

  app.get(
    '/eval/compare',
    {
      schema: {
        operationId: 'compareEvals',
        tags: ['evals'],
        summary: 'Compare two evals',
        description:
          'Compares two evals on the same suite by paired differences of their items, with confidence intervals, in total and per task.',
        querystring: z.strictObject({
          a: EvalId,
          b: EvalId,
        }),
        response: { 200: EvalComparison, ...problemResponses('invalid_request', 'unknown_eval', 'redis_unavailable') },
      },
    },
    ({ query, caller }) => evals.compare(query.a, query.b, caller),
  )

  app.get(
    '/eval/compare/items',
    {
      schema: {
        operationId: 'listFlippedItems',
        tags: ['evals'],
        summary: 'List the items that flipped',
        description: 'Streams the items that one of two evals has right and the other wrong, one JSON object per line.',
        querystring: z.strictObject({
          a: EvalId,
          b: EvalId,
          task: TaskName.optional().describe('Only items of this task.'),
          right_in: FlippedItem.shape.right_in.optional(),
          limit: z.coerce.number().int().min(1).max(100_000).default(1000).describe('Maximum number of items.'),
        }),
        response: {
          200: {
            description: 'Flipped items, one JSON object per line. The schema is that of one line.',
            content: { 'application/x-ndjson': { schema: FlippedItem } },
          },
          ...problemResponses('invalid_request', 'unknown_eval', 'redis_unavailable'),
        },
      },
    },
    async ({ query, caller }, reply) => {
      const items = await evals.listFlippedItems(query, caller)
      return sendJsonLines(Readable.from(items.map((item) => formatJsonLine(item))), reply)
    },
  )
}
