/** /runs and /runs/{run}: settings, progress and curriculum of training runs. */
import { z } from 'zod'
import { formatJsonLine } from '../src/codec/json-lines.ts'
import { canAccessRun } from '../src/contract/caller.ts'
import { RunName } from '../src/contract/rollout.ts'
import { CurriculumPoint, Run, SettingsChange } from '../src/contract/run.ts'
import { textResponse } from '../src/contract/text-response.ts'
import type { RunsFeature } from '../src/features/runs/index.ts'
import type { App } from '../src/http/app.ts'
import { formatEntityTag, ifMatchHeader, ifNoneMatchHeader } from '../src/http/conditional-headers.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { sendJsonLines } from '../src/http/json-lines-responses.ts'

const StepBound = z.coerce.number().int().min(0)

async function* formatJsonLines(objects: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const object of objects) yield formatJsonLine(object)
}

const Params = z.strictObject({ run: RunName })
const IfMatchHeaders = z.looseObject(ifMatchHeader)

export function addRunRoutes(app: App, { runRequests }: RunsFeature): void {
  app.get(
    '/runs',
    {
      schema: {
        operationId: 'listRuns',
        tags: ['runs'],
        summary: 'All runs, with settings and progress; a key that is bound to runs sees those',
        response: { 200: z.strictObject({ runs: z.array(Run) }), ...problemResponses('redis_unavailable') },
      },
    },
    async ({ caller }) => ({ runs: await runRequests.list((name) => canAccessRun(caller, name)) }),
  )

  app.get(
    '/runs/:run/history',
    {
      schema: {
        operationId: 'getRunHistory',
        tags: ['runs'],
        summary: 'What moved the curriculum, oldest first',
        params: Params,
        headers: IfMatchHeaders,
        querystring: z.strictObject({ task: z.string().optional().describe('The points of this task alone') }),
        response: {
          200: z.strictObject({ points: z.array(CurriculumPoint) }),
          ...problemResponses('unknown_run', 'run_recreated', 'redis_unavailable'),
        },
      },
    },
    async ({ params, query, headers }) => ({
      points: await runRequests.listCurriculumPoints(params.run, query.task, headers['if-match']),
    }),
  )

  app.get(
    '/runs/:run/metrics',
    {
      schema: {
        operationId: 'getRunMetrics',
        tags: ['runs'],
        summary: 'Figures of each step, ready for a logger: one flat JSON object a line',
        params: Params,
        headers: IfMatchHeaders,
        querystring: z.strictObject({
          from: StepBound.default(0).describe('The first step'),
          to: StepBound.optional().describe('The last step, included'),
        }),
        response: {
          200: textResponse(
            'application/x-ndjson',
            '`{"step": 7, "reward/mean": 0.4, "score/mean": 0.5, "signal/frac_easy": 0.1, "length/p95": 812, …}`: of the groups scored for the step, each over the same rollouts or groups as in the `metrics` of a batch; `signal/frac_easy` and `signal/frac_hard` are shares of groups',
          ),
          ...problemResponses('invalid_request', 'unknown_run', 'run_recreated', 'redis_unavailable'),
        },
      },
    },
    async ({ params, query, headers }, reply) => {
      const metrics = await runRequests.openStepMetrics(params.run, query, headers['if-match'])
      return sendJsonLines(formatJsonLines(metrics), reply)
    },
  )

  app.delete(
    '/runs/:run',
    {
      schema: {
        operationId: 'deleteRun',
        tags: ['runs'],
        summary: 'Forgets a run and what it holds',
        params: Params,
        headers: IfMatchHeaders,
        response: {
          204: z.null().describe('Forgotten'),
          ...problemResponses('unknown_run', 'run_recreated', 'redis_unavailable'),
        },
      },
    },
    async ({ params, headers }, reply) => {
      await runRequests.delete(params.run, headers['if-match'])
      return reply.status(204).send(null)
    },
  )

  app.get(
    '/runs/:run',
    {
      schema: {
        operationId: 'getRun',
        tags: ['runs'],
        summary: 'A run: its settings and how far it is',
        params: Params,
        headers: IfMatchHeaders,
        response: { 200: Run, ...problemResponses('unknown_run', 'run_recreated', 'redis_unavailable') },
      },
    },
    async ({ params, headers }, reply) => {
      const run = await runRequests.get(params.run, headers['if-match'])
      return reply.header('etag', formatEntityTag(run.incarnation)).send(run)
    },
  )

  app.put(
    '/runs/:run',
    {
      schema: {
        operationId: 'updateRun',
        tags: ['runs'],
        summary: 'Changes settings: omitted ones keep their value, null restores the default',
        params: Params,
        headers: z.looseObject({ ...ifMatchHeader, ...ifNoneMatchHeader }),
        querystring: z.strictObject({
          restart: z.stringbool().default(false).describe('Allows a change that begins the items anew'),
        }),
        body: SettingsChange,
        response: {
          200: z.strictObject({ ...Run.shape, changed: z.array(z.string()), restarts: z.array(z.string()) }),
          201: z.strictObject({ ...Run.shape, changed: z.array(z.string()), restarts: z.array(z.string()) }),
          ...problemResponses(
            'invalid_request',
            'invalid_json',
            'unknown_task',
            'unknown_eval',
            'invalid_config',
            'would_restart',
            'run_changed',
            'run_recreated',
            'run_exists',
            'engine_unavailable',
            'redis_unavailable',
          ),
        },
      },
    },
    async ({ params, body, query, headers, caller }, reply) => {
      const { run, created, changed, restarts } = await runRequests.update(params.run, body, {
        restart: query.restart,
        condition: headers['if-match'],
        createOnly: headers['if-none-match'] === '*',
        caller,
      })
      reply.header('etag', formatEntityTag(run.incarnation))
      return reply.status(created ? 201 : 200).send({ ...run, changed, restarts })
    },
  )
}
