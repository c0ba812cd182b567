/** /eval: models measured on suites. */
import { z } from 'zod'
import { EvalId, EvalInput, EvalSummary, EvalView, Suite, SuiteName, SuiteSummary } from '../src/contract/eval.ts'
import { RunName } from '../src/contract/rollout.ts'
import { ENGINE_VERSION } from '../src/engine/version.ts'
import { Comparison, computeComparison } from '../src/features/evals/comparison.ts'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { EvalParams, IdempotencyHeaders, ModelKeyBody, requireEvalForCaller } from './eval-responses.ts'

export function addEvalRoutes(app: App, feature: EvalsFeature): void {
  const { evals, suites, idempotency, concurrencyQuota } = feature
  app.post(
    '/eval',
    {
      schema: {
        operationId: 'startEval',
        tags: ['evals'],
        summary: 'Measures a model on a suite; the completions come from the model’s server or from the caller',
        headers: IdempotencyHeaders,
        body: EvalInput,
        response: {
          202: EvalView,
          ...problemResponses(
            'invalid_request',
            'invalid_config',
            'unknown_task',
            'unknown_suite',
            'run_changed',
            'idempotency_in_progress',
            'too_many_active',
            'redis_unavailable',
          ),
        },
      },
    },
    async ({ body, headers, caller }, reply) => {
      const ask = { scope: `eval ${caller.id}`, key: headers['idempotency-key'], body }
      const answer = await idempotency.runOnce(ask, async (token) => {
        const id = `eval-${token}`
        return {
          status: 202,
          body: evals.buildView(await concurrencyQuota.runWithinQuota(caller.id, id, () => evals.start(id, body))),
        }
      })
      return reply.status(202).header('location', `/eval/${answer.body.id}`).send(answer.body)
    },
  )

  app.get(
    '/eval',
    {
      schema: {
        operationId: 'listEvals',
        tags: ['evals'],
        summary: 'Evals, newest first: with a run, its curve',
        querystring: z.strictObject({
          run: RunName.optional(),
          suite: z.string().optional(),
          label: z.string().optional().describe('A label; of labels with values the name, the value or `name=value`'),
          limit: z.coerce.number().int().min(1).max(1000).default(100),
        }),
        response: { 200: z.strictObject({ evals: z.array(EvalSummary) }), ...problemResponses('redis_unavailable') },
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
        summary: 'The frozen suites',
        response: { 200: z.strictObject({ suites: z.array(SuiteSummary) }) },
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
        summary: 'A suite with all its recipes',
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
        summary: 'An eval as it stands',
        params: EvalParams,
        response: { 200: EvalView, ...problemResponses('unknown_eval', 'redis_unavailable') },
      },
    },
    async ({ params, caller }) => evals.buildView(await requireEvalForCaller(feature, params.id, caller)),
  )

  app.delete(
    '/eval/:id',
    {
      schema: {
        operationId: 'cancelEval',
        tags: ['evals'],
        summary: 'Cancels an eval; the result is of what was there. One that is over stays as it is',
        params: EvalParams,
        response: { 200: EvalView, ...problemResponses('unknown_eval', 'redis_unavailable') },
      },
    },
    async ({ params, caller }) => {
      await requireEvalForCaller(feature, params.id, caller)
      return evals.buildView(await evals.cancel(params.id))
    },
  )

  app.post(
    '/eval/:id/resume',
    {
      schema: {
        operationId: 'resumeEval',
        tags: ['evals'],
        summary: 'Goes on with an eval that was cancelled or has failures: finished samples are not asked for again',
        params: EvalParams,
        body: ModelKeyBody,
        response: {
          202: EvalView,
          ...problemResponses('invalid_request', 'unknown_eval', 'too_many_active', 'redis_unavailable'),
        },
      },
    },
    async ({ params, body, caller }, reply) => {
      await requireEvalForCaller(feature, params.id, caller)
      const resume = () => evals.resume(params.id, body.api_key)
      return reply
        .status(202)
        .send(evals.buildView(await concurrencyQuota.runWithinQuota(caller.id, params.id, resume)))
    },
  )

  app.get(
    '/eval/compare',
    {
      schema: {
        operationId: 'compareEvals',
        tags: ['evals'],
        summary: 'Two evals on one suite: paired differences with their intervals, in all and per task',
        querystring: z.strictObject({ a: EvalId, b: EvalId }),
        response: { 200: Comparison, ...problemResponses('invalid_request', 'unknown_eval', 'redis_unavailable') },
      },
    },
    async ({ query, caller }) => {
      const [a, b] = await Promise.all([query.a, query.b].map((id) => requireEvalForCaller(feature, id, caller)))
      if (!a || !b) throw new RangeError('two ids are two evals')
      return computeComparison(a, b, feature)
    },
  )
}
