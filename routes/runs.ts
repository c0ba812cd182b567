/** /runs and /runs/{run}: settings and progress of training runs. */

import { canAccessRun } from '@reasoning-gym-server/contract/caller'
import { queryBoolean } from '@reasoning-gym-server/contract/common'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { Run, RunOrder, RunPage, RunState } from '@reasoning-gym-server/contract/run'
import { RunChange } from '@reasoning-gym-server/contract/run-control'
import { SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { z } from 'zod'
import type { RunsFeature } from '../src/features/runs/index.ts'
import { omitForeignForks } from '../src/features/runs/views.ts'
import type { App } from '../src/http/app.ts'
import {
  formatEntityTag,
  IdempotencyHeaders,
  IfMatchHeaders,
  ifMatchHeader,
  ifNoneMatchHeader,
} from '../src/http/request-headers.ts'

/** What the routes of one run have in common. */
export const runRouteSchema = { tags: ['runs'], params: z.strictObject({ run: RunName }), headers: IfMatchHeaders }
const UpdatedRun = z
  .strictObject({
    ...Run.shape,
    changed: z.array(z.string()).describe('Settings that the call changed.'),
    restarts: z.array(z.string()).describe('Changed settings that restarted the item sequence.'),
  })
  .meta({ id: 'UpdatedRun', description: 'A run after a change of its settings.' })

const RunsQuery = z.strictObject({
  q: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Only runs with each of these words in the name or the settings, such as tags, notes and tasks, in any case.',
    ),
  state: RunState.shape.is.optional().describe('Only runs in this state.'),
  has_warnings: queryBoolean().optional().describe('Only runs with warnings, or if false only those without.'),
  archived: queryBoolean().default(false).describe('If true, the list includes archived runs.'),
  sort: RunOrder.default('name').describe('Order of the runs.'),
  cursor: z
    .string()
    .regex(/^(\d{1,16}~)?[a-z0-9][a-z0-9._-]{0,62}$/, 'must be a cursor that next_cursor returned')
    .optional()
    .describe('Value of `next_cursor` from the previous page.'),
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('Maximum number of runs.'),
})

export function addRunRoutes(app: App, { runs, pages, views }: RunsFeature): void {
  app.get(
    '/runs',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'listRuns',
        tags: ['runs'],
        summary: 'List runs',
        description:
          'Returns summaries of the runs, except archived ones. A key that is bound to runs sees only those. A call examines at most 500 runs; `next_cursor` continues.',
        querystring: RunsQuery,
        response: { 200: RunPage },
      },
    },
    ({ caller, query }) => pages.get((name) => canAccessRun(caller, name), query),
  )

  app.delete(
    '/runs/:run',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'deleteRun',
        ...runRouteSchema,
        summary: 'Delete a run',
        description:
          'Deletes the run with its groups, batches and statistics. Dump files stay. A new run of the same name starts from the beginning.',
        response: {
          204: z.null().describe('The run is deleted.'),
        },
      },
    },
    async ({ params, headers }, reply) => {
      await runs.delete(params.run, headers['if-match'])
      return reply.status(204).send(null)
    },
  )

  app.get(
    '/runs/:run',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getRun',
        ...runRouteSchema,
        summary: 'Get a run',
        description:
          'Returns the settings, progress and per-task statistics of a run. Its `ETag` identifies the run in `If-Match`.',
        response: { 200: Run },
      },
    },
    async ({ params, headers, caller }, reply) => {
      const run = await views.get(params.run, headers['if-match'])
      return reply.header('etag', formatEntityTag(run.incarnation)).send(omitForeignForks(run, caller))
    },
  )
}

export function addRunChangeRoutes(app: App, { runs, views }: RunsFeature): void {
  app.patch(
    '/runs/:run',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'changeRun',
        ...runRouteSchema,
        summary: 'Change the lifecycle or the mix of a run',
        description:
          '`lifecycle` marks a run as finished or archived, or as active again. Nothing is deleted. Checkpoints do not contain the mark: a restored run is active. `mix` sets the tasks of a run in progress: the next item is drawn from them, and items that were handed out stay. `GET /runs/{run}/mixes` lists the mixes.',
        headers: IdempotencyHeaders.extend(ifMatchHeader),
        body: RunChange,
        response: {
          200: Run,
        },
        problems: ['unknown_task', 'invalid_config', 'run_changed', 'idempotency_in_progress', 'engine_unavailable'],
      },
    },
    async ({ params, body, headers, caller }, reply) => {
      const condition = headers['if-match']
      const changed =
        'mix' in body
          ? await runs.setMix(params.run, body.mix, {
              condition,
              callerId: caller.id,
              idempotencyKey: headers['idempotency-key'],
            })
          : await runs.changeLifecycle(params.run, body.lifecycle, condition)
      const run = await views.buildFor(caller, changed)
      return reply.header('etag', formatEntityTag(run.incarnation)).send(run)
    },
  )

  app.put(
    '/runs/:run',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'updateRun',
        ...runRouteSchema,
        summary: 'Create a run or change its settings',
        description:
          'Creates the run if it does not exist. Omitted settings keep their value; null restores the default. Other `tasks` or `exclude` take effect from the next item that is handed out. Another `seed` would restart the item sequence and is rejected with 409 `would_restart`, unless `restart=true`.',
        headers: z.looseObject({ ...ifMatchHeader, ...ifNoneMatchHeader }),
        querystring: z.strictObject({
          restart: queryBoolean()
            .default(false)
            .describe('If true, a change of `seed`, `tasks` or `exclude` restarts the item sequence.'),
        }),
        body: SettingsChange,
        response: {
          200: UpdatedRun.describe('The run with its new settings.'),
          201: UpdatedRun.describe('The run was created.'),
        },
        problems: [
          'unknown_task',
          'unknown_eval',
          'invalid_config',
          'would_restart',
          'run_changed',
          'run_exists',
          'engine_unavailable',
        ],
      },
    },
    async ({ params, body, query, headers, caller }, reply) => {
      const { run, created, changed, restarts } = await runs.update(params.run, body, {
        restart: query.restart,
        condition: headers['if-match'],
        createOnly: headers['if-none-match'] === '*',
        caller,
      })
      reply.header('etag', formatEntityTag(run.incarnation))
      return reply.status(created ? 201 : 200).send({ ...(await views.buildFor(caller, run)), changed, restarts })
    },
  )
}
