/** /runs/{run}/rescore: the kept groups of a run, scored again under other rules. */
import { Rescore, RescoreInput, RescoreList } from '@reasoning-gym-server/contract/rescore'
import { z } from 'zod'
import type { RescoresFeature } from '../src/features/rescores/index.ts'
import type { App } from '../src/http/app.ts'
import { IdempotencyHeaders, ifMatchHeader } from '../src/http/request-headers.ts'
import { runRouteSchema } from './runs.ts'

export function addRescoreRoutes(app: App, { rescores }: RescoresFeature): void {
  app.post(
    '/runs/:run/rescore',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'startRescore',
        ...runRouteSchema,
        summary: 'Score the kept groups of a run again',
        description:
          'Starts a job that scores the groups that the server keeps (`keep_groups`) under other settings, and reports how rewards, signal and advantages would differ. It changes nothing in the run.',
        headers: IdempotencyHeaders.extend(ifMatchHeader),
        body: RescoreInput,
        response: { 202: Rescore },
        problems: ['unknown_task'],
      },
    },
    async ({ params, body, headers, caller }, reply) => {
      const request = { caller, idempotencyKey: headers['idempotency-key'], condition: headers['if-match'] }
      return reply.status(202).send(await rescores.start(params.run, body, request))
    },
  )

  app.get(
    '/runs/:run/rescore',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'listRescores',
        ...runRouteSchema,
        summary: 'List the rescores of a run',
        description: 'Returns the last 20 rescores of the run, newest first.',
        response: { 200: RescoreList },
      },
    },
    async ({ params, headers }) => ({ rescores: await rescores.list(params.run, headers['if-match']) }),
  )

  app.get(
    '/runs/:run/rescore/:id',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getRescore',
        ...runRouteSchema,
        summary: 'Get a rescore',
        description: 'Returns the progress of a rescore and, once it is done, its result.',
        params: runRouteSchema.params.extend({ id: z.string().min(1).max(64).describe('ID of the rescore.') }),
        response: { 200: Rescore },
        problems: ['unknown_rescore'],
      },
    },
    ({ params, headers }) => rescores.get(params.run, params.id, headers['if-match']),
  )
}
