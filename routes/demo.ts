/** POST /demo: trains a simulated learner, so that a new user sees what a training run looks like. */

import { DemoInput, StartedDemo } from '@reasoning-gym-server/contract/demo'
import type { FastifyRequest } from 'fastify'
import type { App } from '../src/http/app.ts'

/** Starts a demo with the rights of the request. Throws `too_many_active` while another one runs. */
export type StartDemo = (input: DemoInput, request: FastifyRequest) => Promise<StartedDemo>

export function addDemoRoutes(app: App, startDemo: StartDemo): void {
  app.post(
    '/demo',
    {
      config: { access: 'trainers', requiresRunForBoundKey: true },
      schema: {
        operationId: 'startDemo',
        tags: ['runs'],
        summary: 'Start a demo',
        description:
          'Trains a simulated model on a new run with the calls that a trainer makes: items, groups, batches, and evals if the key permits them. One demo runs at a time.',
        body: DemoInput.default({ steps: 40 }),
        response: {
          202: StartedDemo,
        },
        problems: ['unknown_task', 'run_exists', 'too_many_active', 'engine_unavailable'],
      },
    },
    async (request, reply) => {
      const demo = await startDemo(request.body, request)
      return reply.status(202).header('location', `/runs/${demo.run}`).send(demo)
    },
  )
}
