/** /eval: models measured on suites. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { ENGINE_VERSION } from '../src/engine/version.ts'
import { EvalId, EvalInput, EvalSummary, EvalView, Suite, SuiteName, SuiteSummary } from '../src/words/eval.ts'
import { problems } from '../src/words/problem.ts'
import { RunName } from '../src/words/rollout.ts'
import type { App, Services } from './context.ts'

const Params = z.strictObject({ id: EvalId })

export function evals(app: App, { evals, suites }: Services): void {
  app.post(
    '/eval',
    {
      schema: {
        tags: ['evals'],
        summary: 'Measures a model on a suite; the completions come from the model’s server or from the caller',
        body: EvalInput,
        response: {
          202: EvalView,
          ...problems(
            'invalid_request',
            'invalid_config',
            'unknown_task',
            'unknown_suite',
            'rate_limited',
            'redis_unavailable',
          ),
        },
      },
    },
    async ({ body }, reply) => {
      const made = await evals.begin(`eval-${randomUUID().replaceAll('-', '').slice(0, 20)}`, body)
      return reply.status(202).header('location', `/eval/${made.id}`).send(evals.view(made))
    },
  )

  app.get(
    '/eval',
    {
      schema: {
        tags: ['evals'],
        summary: 'Evals, newest first: with a run, its curve',
        querystring: z.strictObject({
          run: RunName.optional(),
          suite: z.string().optional(),
          label: z.string().optional().describe('A label; of labels with values the name, the value or `name=value`'),
          limit: z.coerce.number().int().min(1).max(1000).default(100),
        }),
        response: { 200: z.strictObject({ evals: z.array(EvalSummary) }), ...problems('redis_unavailable') },
      },
    },
    async ({ query }) => ({ evals: await evals.list(query) }),
  )

  app.get(
    '/eval/suites',
    {
      schema: {
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
        tags: ['evals'],
        summary: 'A suite with all its recipes',
        params: z.strictObject({ suite: SuiteName }),
        response: { 200: Suite, ...problems('unknown_suite') },
      },
    },
    ({ params }) => ({
      ...suites.find(params.suite),
      engine: ENGINE_VERSION,
      recipes: suites.recipes(params.suite),
    }),
  )

  app.get(
    '/eval/:id',
    {
      schema: {
        tags: ['evals'],
        summary: 'An eval as it stands',
        params: Params,
        response: { 200: EvalView, ...problems('unknown_eval', 'redis_unavailable') },
      },
    },
    async ({ params }) => evals.view(await evals.find(params.id)),
  )

  app.delete(
    '/eval/:id',
    {
      schema: {
        tags: ['evals'],
        summary: 'Cancels an eval; the result is of what was there. One that is over stays as it is',
        params: Params,
        response: { 200: EvalView, ...problems('unknown_eval', 'redis_unavailable') },
      },
    },
    async ({ params }) => evals.view(await evals.cancel(params.id)),
  )
}
