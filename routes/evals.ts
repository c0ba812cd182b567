/** /eval and /eval/suites: evals of models, their comparison, and frozen suites. */
import { Eval, EvalComparison, EvalId, EvalInput, EvalSummary, FlippedItem } from '@reasoning-gym-server/contract/eval'
import { TaskName } from '@reasoning-gym-server/contract/recipe'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { Suite, SuiteName, SuiteSummary } from '@reasoning-gym-server/contract/suite'
import { z } from 'zod'
import { ENGINE_VERSION } from '../src/engine/version.ts'
import { HubBenchmark, renderHubResults } from '../src/features/evals/hub-results.ts'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import { renderEvalReport } from '../src/features/evals/report.ts'
import type { App } from '../src/http/app.ts'
import { formatJsonLines, sendJsonLines } from '../src/http/streamed-responses.ts'
import { addGenerationJobRoutes } from './generation-jobs.ts'

const EvalParams = z.strictObject({ id: EvalId })

export function addEvalRoutes(app: App, feature: EvalsFeature): void {
  addEvalJobRoutes(app, feature)
  addHubResultsRoute(app, feature)
  addSuiteRoutes(app, feature)
  addComparisonRoutes(app, feature)
}

function addEvalJobRoutes(app: App, { evals }: EvalsFeature): void {
  addGenerationJobRoutes(app, evals.jobs, {
    path: '/eval',
    params: EvalParams,
    tag: 'evals',
    name: 'Eval',
    noun: 'an eval',
    unknownCode: 'unknown_eval',
    writers: 'evaluators',
    input: EvalInput,
    view: Eval,
    start: {
      description:
        'Measures a model on a suite. The server requests the completions from the model’s API, or, with `"model": null`, you post them. Send an `Idempotency-Key` if you retry.',
      problems: [
        'invalid_config',
        'unknown_task',
        'unknown_suite',
        'run_changed',
        'idempotency_in_progress',
        'too_many_active',
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
    },
    cancel: {
      description:
        'Stops the eval. Its result covers the samples that are done. An eval that has ended does not change.',
    },
    resume: {
      description: 'Continues an eval that was cancelled or has failed samples. Samples with a score are kept.',
    },
    report: { render: renderEvalReport },
  })
}

function addHubResultsRoute(app: App, { evals }: EvalsFeature): void {
  app.get(
    '/eval/:id/hub-results',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getEvalHubResults',
        tags: ['evals'],
        summary: 'Get the result for a model repository',
        description:
          'Returns the result as YAML for the folder `.eval_results/` of the model’s repository on the Hugging Face hub, which then shows it on the model page. An eval that is not done, a frontier eval and one without scores are rejected with 400 `invalid_request`.',
        params: EvalParams,
        querystring: HubBenchmark,
        response: { 200: { description: 'The file.', content: { 'application/yaml': { schema: z.string() } } } },
        problems: ['unknown_eval'],
      },
    },
    async ({ params, query, caller }, reply) => {
      const view = await evals.jobs.requireView({ ...params, caller })
      return reply.header('content-type', 'application/yaml; charset=utf-8').send(renderHubResults(view, query))
    },
  )
}

function addSuiteRoutes(app: App, { suites }: EvalsFeature): void {
  app.get(
    '/eval/suites',
    {
      config: { access: 'readers' },
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
      config: { access: 'readers' },
      schema: {
        operationId: 'getSuite',
        tags: ['evals'],
        summary: 'Get a suite with its recipes',
        params: z.strictObject({ suite: SuiteName }),
        response: { 200: Suite },
        problems: ['unknown_suite'],
      },
    },
    ({ params }) => ({
      ...suites.require(params.suite),
      engine: ENGINE_VERSION,
      recipes: suites.listRecipes(params.suite),
      struck: suites.listStruck(params.suite),
    }),
  )
}

function addComparisonRoutes(app: App, { evals }: EvalsFeature): void {
  app.get(
    '/eval/compare',
    {
      config: { access: 'readers' },
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
        response: { 200: EvalComparison },
        problems: ['unknown_eval'],
      },
    },
    ({ query, caller }) => evals.compare(query.a, query.b, caller),
  )

  app.get(
    '/eval/compare/items',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'listFlippedItems',
        tags: ['evals'],
        summary: 'List the items that flipped',
        description:
          'Streams the items that one of two evals answers correctly and the other does not, one JSON object per line.',
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
        },
        problems: ['unknown_eval'],
      },
    },
    async ({ query, caller }, reply) => {
      const items = await evals.listFlippedItems(query, caller)
      return sendJsonLines(formatJsonLines(items), reply)
    },
  )
}
