/** /runs/{run}/metrics, /flow, /histograms and /task-metrics: how a run develops over its training. */

import { textResponse } from '@reasoning-gym-server/contract/common'
import { Flow } from '@reasoning-gym-server/contract/flow'
import { TaskMetric, TaskMetrics } from '@reasoning-gym-server/contract/run'
import { z } from 'zod'
import type { RunsFeature } from '../src/features/runs/index.ts'
import type { App } from '../src/http/app.ts'
import { formatJsonLines, sendJsonLines } from '../src/http/streamed-responses.ts'
import { runRouteSchema } from './runs.ts'

const MAX_POINTS = 2000
const MAX_COLUMNS = 500

const StepBound = z.coerce.number().int().min(0)
const Points = z.coerce.number().int().min(1).max(MAX_POINTS)
const RangeFields = {
  from: StepBound.default(0).describe('First step; of a run without steps, number of the first group.'),
  to: StepBound.optional().describe('Last step, inclusive.'),
}

export function addRunMetricsRoutes(app: App, { runMetrics, flow }: RunsFeature): void {
  app.get(
    '/runs/:run/metrics',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getRunMetrics',
        ...runRouteSchema,
        summary: 'Get metrics per step',
        description:
          'Streams one flat JSON object per training step, ready for a logger. With `points`, each merges a range of steps exactly, without metrics per task. Rows of a run without steps then have `time` (Unix seconds), `first_group` and `width` in place of `step`; those of a run with single samples always do. With `by=task`, each row is of one task in a step: a table of the run for your own statistics.',
        querystring: z.strictObject({
          ...RangeFields,
          by: z
            .enum(['task'])
            .optional()
            .describe(
              '`task`: a row for each task, with the metrics `reward/mean`, `score/mean`, `score/frac_correct`, `difficulty/mean` and `length/mean`. `reward/low` and `reward/high` are the 95% interval of the mean over `groups` (Student’s t on their means); absent for a single group, and if all groups have the same mean.',
            ),
          points: Points.optional().describe(
            'Maximum number of rows of the whole run. A row spans `width` steps from `first_step`; `step` is its last, and `time` the Unix time of its last group.',
          ),
        }),
        response: {
          200: textResponse(
            'application/x-ndjson',
            'One JSON object per step, such as `{"step": 7, "reward/mean": 0.4, "score/mean": 0.5, "pass_at/4": 0.8, "signal/frac_easy": 0.1, "length/p95": 812, …}`. The metrics cover the groups scored for the step, and are computed like the `metrics` of a batch; `signal/frac_easy` and `signal/frac_hard` are shares of groups.',
          ),
        },
      },
    },
    async ({ params, query: { by, ...range }, headers }, reply) => {
      const open = by === 'task' ? 'openTaskRows' : 'openRows'
      const rows = await runMetrics[open](params.run, range, headers['if-match'])
      return sendJsonLines(formatJsonLines(rows), reply)
    },
  )

  app.get(
    '/runs/:run/flow',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getRunFlow',
        ...runRouteSchema,
        summary: 'Get the flow of a run',
        description:
          'Returns how groups flow from generators to the trainer over the last 64 batches: rates, which side waits, staleness, and advice.',
        response: { 200: Flow },
      },
    },
    ({ params, headers }) => flow.get(params.run, headers['if-match']),
  )

  app.get(
    '/runs/:run/histograms',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getRunHistograms',
        ...runRouteSchema,
        summary: 'Get distributions over training',
        description:
          'Streams the distributions of rewards and of completion lengths, one JSON object per range of steps.',
        querystring: z.strictObject({
          ...RangeFields,
          points: Points.default(200).describe('Maximum number of rows of the whole run.'),
        }),
        response: {
          200: textResponse(
            'application/x-ndjson',
            'One JSON object per row, placed like those of `GET /runs/{run}/metrics?points=N`, with counts of rollouts by bin. `rewards` has ten bins over [0, 1], the first and last with all below and above. In `correct_lengths` and `wrong_lengths`, bin k has lengths in tokens above 2^(k−1), up to 2^k.',
          ),
        },
      },
    },
    async ({ params, query, headers }, reply) => {
      const rows = await runMetrics.openHistograms(params.run, query, headers['if-match'])
      return sendJsonLines(formatJsonLines(rows), reply)
    },
  )

  app.get(
    '/runs/:run/task-metrics',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getRunTaskMetrics',
        ...runRouteSchema,
        summary: 'Get a metric by task',
        description: 'Returns a metric of each task in ranges of steps, as for a heat map.',
        querystring: z.strictObject({
          metric: TaskMetric.default('reward').describe('Metric of the cells.'),
          columns: z.coerce.number().int().min(1).max(MAX_COLUMNS).default(60).describe('Maximum number of columns.'),
        }),
        response: { 200: TaskMetrics },
      },
    },
    ({ params, query, headers }) => runMetrics.getTaskMetrics(params.run, query, headers['if-match']),
  )
}
