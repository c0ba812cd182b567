/** /runs/{run}/fork, /steps and /rewind: ends steps of a run, goes back to one, and begins another run from one. */

import { canAccessRun } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { Run } from '@reasoning-gym-server/contract/run'
import { ForkRequest, Rewind, RewindRequest, StepEnd } from '@reasoning-gym-server/contract/run-control'
import { z } from 'zod'
import type { RewindsFeature } from '../src/features/rewinds/index.ts'
import type { RunsFeature } from '../src/features/runs/index.ts'
import type { App } from '../src/http/app.ts'
import { formatEntityTag } from '../src/http/request-headers.ts'
import { runRouteSchema } from './runs.ts'

export function addRunStepRoutes(app: App, { runs, views, checkpoints }: RunsFeature, rewinds: RewindsFeature): void {
  app.post(
    '/runs/:run/fork',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'forkRun',
        ...runRouteSchema,
        summary: 'Fork a run',
        description:
          'Creates a run with the state of another one, now or after one of its last 1,000 steps, under other settings if you give any. The fork has the curriculum, statistics, history and item sequence of the run, and none of its groups. The other run stays as it is. A repeated call finds the fork.',
        body: ForkRequest,
        response: {
          200: Run.describe('An equal call has created the fork before.'),
          201: Run.describe('The fork.'),
        },
        problems: [
          'forbidden',
          'step_unavailable',
          'would_restart',
          'unknown_task',
          'unknown_eval',
          'invalid_config',
          'run_exists',
          'run_changed',
          'engine_unavailable',
        ],
      },
    },
    async ({ params, body, headers, caller }, reply) => {
      if (!canAccessRun(caller, body.name))
        throw new ServiceError(
          'forbidden',
          `This API key may not access the run ${body.name}. Use a key that is bound to it, or an unbound key.`,
        )
      const { name, step, settings: change = {} } = body
      const { run, created } = await checkpoints.fork(params.run, { name, step, change }, caller, headers['if-match'])
      reply.header('etag', formatEntityTag(run.incarnation))
      return reply.status(created ? 201 : 200).send(await views.buildFor(caller, run))
    },
  )

  app.post(
    '/runs/:run/steps',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'endStep',
        ...runRouteSchema,
        summary: 'End a step',
        description:
          'Records the state of the run as that after a step, so that `rewind` can return to it. A run that composes batches does this automatically. A call for the latest step or an earlier one changes nothing, so every rank may call. A step more than 1,000,000 above the latest one is rejected with 400 `invalid_request`.',
        body: StepEnd,
        response: { 204: z.null().describe('The step has ended.') },
        problems: ['run_changed'],
      },
    },
    async ({ params, body, headers }, reply) => {
      await runs.endStep(params.run, body.step, headers['if-match'])
      return reply.status(204).send(null)
    },
  )

  app.post(
    '/runs/:run/rewind',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'rewindRun',
        ...runRouteSchema,
        summary: 'Rewind a run to a step',
        description:
          'Makes the run what it was after a step, for a trainer that resumes from its weights of that step: curriculum, statistics, item sequence and leases. Later groups no longer count, and the buffer is empty. Settings stay as they are. The last 1,000 steps are available.',
        body: RewindRequest,
        response: { 200: Rewind },
        problems: ['step_unavailable', 'run_changed'],
      },
    },
    async ({ params, body, headers }, reply) => {
      const { run, voided } = await rewinds.rewind(params.run, {
        step: body.step,
        resumeId: body.resume_id,
        condition: headers['if-match'],
      })
      reply.header('etag', formatEntityTag(run.incarnation))
      return reply.send({ run: run.name, step: body.step, voided: voided ?? null })
    },
  )
}
