/** GET /overview, GET /events: the state of the whole server, once or as a stream. */

import type { Caller } from '@reasoning-gym-server/contract/caller'
import { textResponse } from '@reasoning-gym-server/contract/common'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { Overview } from '@reasoning-gym-server/contract/overview'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { OperationsFeature } from '../src/features/operations/index.ts'
import { omitForeignForks } from '../src/features/runs/views.ts'
import type { App } from '../src/http/app.ts'
import { createShutdownSignal, formatEvent, sendEventStream } from '../src/http/streamed-responses.ts'
import { translateRedisError } from '../src/platform/redis/redis-errors.ts'
import { pause } from '../src/platform/retry.ts'
import { errorMessage } from '../src/platform/throttled-log.ts'

const EVENT_INTERVAL_MS = 2000
/** Per process. Each listener costs a read of Redis every two seconds. */
const MAX_LISTENERS = 64

export function addOverviewRoutes(app: App, { overview }: OperationsFeature): void {
  const closing = createShutdownSignal(app)
  let listeners = 0

  app.get(
    '/overview',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getOverview',
        tags: ['operations'],
        summary: 'Get an overview of the server',
        description: 'Returns health, totals, queues and processes, and the totals of the last hour.',
        response: { 200: Overview },
      },
    },
    () => overview.getWithHistory(),
  )

  app.get(
    '/events',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'streamOverviewEvents',
        tags: ['operations'],
        summary: 'Stream the overview',
        description:
          'Sends server-sent events: `overview` every two seconds and, with `run`, `run` whenever the run has changed.',
        querystring: z.strictObject({ run: RunName.optional().describe('Run to send `run` events for.') }),
        response: {
          200: textResponse(
            'text/event-stream',
            'Events `overview` and `run`, with the data of `GET /overview` and `GET /runs/{run}`.',
          ),
        },
        problems: ['unknown_run'],
      },
    },
    async ({ query, caller }, reply) => {
      if (listeners >= MAX_LISTENERS)
        throw new ServiceError(
          'rate_limited',
          `This process already has ${MAX_LISTENERS} event streams, the maximum. Poll GET /overview instead.`,
          {
            retryAfter: 10,
          },
        )
      const { closed } = reply.reader
      closed.throwIfAborted() // it would never say so again, and stay a listener
      listeners++
      closed.addEventListener('abort', () => listeners--)
      if (query.run !== undefined) await overview.requireRun(query.run)
      return sendEventStream(streamEvents(query.run, caller), reply)
    },
  )

  async function* streamEvents(runName: string | undefined, caller: Caller): AsyncGenerator<string> {
    for (let last = ''; !closing.aborted; await pause(EVENT_INTERVAL_MS, closing)) {
      try {
        yield formatEvent('overview', await overview.getCached())
        if (runName === undefined) continue
        const event = formatEvent('run', omitForeignForks(await overview.requireRun(runName), caller))
        if (event !== last) yield event
        last = event
      } catch (error) {
        yield formatEvent('missed', { detail: errorMessage(translateRedisError(error)) })
      }
    }
  }
}
