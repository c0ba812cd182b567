/** GET /adapters: shows how to configure each trainer for this server, and which adapters have been used. */

import { AdapterView } from '@reasoning-gym-server/contract/adapter'
import { type Caller, canAccessRun } from '@reasoning-gym-server/contract/caller'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { problemResponses } from '../../http/errors/problem-responses.ts'
import { ADAPTERS, type ServerAddress } from './catalogue.ts'
import type { AdapterUsage } from './usage.ts'

/** Placeholders where the caller writes a key and the name of a run. */
const KEY_PLACEHOLDER = 'API_KEY'

export function addAdapterListRoutes(app: App, { usage }: { usage: AdapterUsage }): void {
  app.get(
    '/adapters',
    {
      schema: {
        operationId: 'listAdapters',
        tags: ['adapters'],
        summary: 'List adapters',
        description:
          'Returns how to configure each trainer for this server, and how much each adapter was used. The snippets contain the address by which the caller reached the server. Replace `API_KEY` with a key and `RUN` with the name of a run.',
        response: {
          200: z
            .strictObject({ adapters: z.array(AdapterView).describe('Adapters with their usage.') })
            .meta({ id: 'AdapterList', description: 'Adapters.' }),
          ...problemResponses('redis_unavailable'),
        },
      },
    },
    async (request) => {
      const address = addressOf(request)
      return { adapters: await Promise.all(ADAPTERS.map((describe) => view(describe(address)))) }

      async function view(description: ReturnType<(typeof ADAPTERS)[number]>): Promise<AdapterView> {
        const { samples, unscored, lastUsed, lastRun } = await usage.read(description.name)
        return {
          ...description,
          usage: { samples, unscored, last_used: lastUsed, last_run: hideForeignRun(lastRun, request.caller) },
        }
      }
    },
  )
}

/** Returns the address at which the client reached the server, possibly through a proxy that `TRUST_PROXY` names. */
function addressOf({ protocol, host, socket }: FastifyRequest): ServerAddress {
  // HTTP/1.0 needs no Host
  const reached = URL.canParse(`${protocol}://${host}`) ? host : `127.0.0.1:${socket.localPort}`
  return {
    url: `${protocol}://${reached}`,
    urlWithKey: `${protocol}://trainer:${KEY_PLACEHOLDER}@${reached}`,
    host: reached,
  }
}

function hideForeignRun(run: string | null, caller: Caller): string | null {
  return run !== null && canAccessRun(caller, run) ? run : null
}
