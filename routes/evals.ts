/** /eval: measures a model on a suite. */
import { Readable } from 'node:stream'
import { formatJsonLine } from '@reasoning-gym-server/codec/json-lines'
import {
  EvalId,
  EvalInput,
  EvalSummary,
  EvalView,
  Suite,
  SuiteName,
  SuiteSummary,
} from '@reasoning-gym-server/contract/eval'
import { TaskName } from '@reasoning-gym-server/contract/recipe'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import { ENGINE_VERSION } from '../src/engine/version.ts'
import { Comparison } from '../src/features/evals/comparison.ts'
import { FlippedItem, RightIn } from '../src/features/evals/flipped-items.ts'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import type { App } from '../src/http/app.ts'
import { ifMatchHeader } from '../src/http/conditional-headers.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { sendJsonLines } from '../src/http/json-lines-responses.ts'
import { EvalParams, IdempotencyHeaders, ModelKeyBody } from './eval-responses.ts'

export function addEvalRoutes(app: App, { evals, suites }: EvalsFeature): void {
  app.post(
    '/eval',
    {
      schema: {
        operationId: 'startEval',
        tags: ['evals'],
        summary: 'Start an eval',
        description:
          'Measures a model on a suite. The server requests the completions from the model’s API, or, with `"model": null`, you post them. Send an `Idempotency-Key` if you retry.',
        headers: IdempotencyHeaders.extend(ifMatchHeader),
        body: EvalInput,
        response: {
          202: EvalView,
          ...problemResponses(
            'invalid_request',
            'invalid_config',
            'unknown_task',
            'unknown_suite',
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
      const view = await evals.create(body, {
        caller,
        idempotencyKey: headers['idempotency-key'],
        condition: headers['if-match'],
      })
      return reply.status(202).header('location', `/eval/${view.id}`).send(view)
    },
  )

  app.get(
    '/eval',
    {
      schema: {
        operationId: 'listEvals',
        tags: ['evals'],
        summary: 'List evals',
        description: 'Returns evals, newest first. With `run`, returns the evals of a run: its learning curve.',
        querystring: z.strictObject({
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
        response: {
          200: z
            .strictObject({ evals: z.array(EvalSummary).describe('Evals, newest first.') })
            .meta({ id: 'EvalList', description: 'Evals that match the query.' }),
          ...problemResponses('redis_unavailable'),
        },
      },
    },
    async ({ query }) => ({ evals: await evals.list(query) }),
  )

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
    '/eval/:id',
    {
      schema: {
        operationId: 'getEval',
        tags: ['evals'],
        summary: 'Get an eval',
        params: EvalParams,
        response: { 200: EvalView, ...problemResponses('unknown_eval', 'redis_unavailable') },
      },
    },
    ({ params, caller }) => evals.requireView(params.id, caller),
  )

  app.delete(
    '/eval/:id',
    {
      schema: {
        operationId: 'cancelEval',
        tags: ['evals'],
        summary: 'Cancel an eval',
        description:
          'Stops the eval. Its result covers the samples that are done. An eval that has ended does not change.',
        params: EvalParams,
        response: { 200: EvalView, ...problemResponses('unknown_eval', 'redis_unavailable') },
      },
    },
    ({ params, caller }) => evals.cancel(params.id, caller),
  )

  app.post(
    '/eval/:id/resume',
    {
      schema: {
        operationId: 'resumeEval',
        tags: ['evals'],
        summary: 'Resume an eval',
        description: 'Continues an eval that was cancelled or has failed samples. Samples with a score are kept.',
        params: EvalParams,
        body: ModelKeyBody,
        response: {
          202: EvalView,
          ...problemResponses('invalid_request', 'unknown_eval', 'too_many_active', 'redis_unavailable'),
        },
      },
    },
    async ({ params, body, caller }, reply) =>
      reply.status(202).send(await evals.resume(params.id, caller, body.api_key)),
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
        response: { 200: Comparison, ...problemResponses('invalid_request', 'unknown_eval', 'redis_unavailable') },
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
          right_in: RightIn.optional(),
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
