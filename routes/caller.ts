/** GET /whoami: what the caller's API key allows. */
import { CallerInfo } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { App } from '../src/http/app.ts'

export function addCallerRoutes(app: App): void {
  app.get(
    '/whoami',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getCaller',
        tags: ['operations'],
        summary: 'Get the role of your key',
        description:
          'Returns the role of your API key and the runs that it is bound to. Without keys, you are an admin.',
        response: { 200: CallerInfo },
      },
    },
    ({ caller: { role, runs, keyHint } }) => {
      if (role === null)
        throw new ServiceError(
          'unauthorized',
          'The API key is missing or unknown. Send a known key as `Authorization: Bearer KEY`.',
        ) // authorization.ts rejects it
      return { role, runs: runs && [...runs], key: keyHint ?? null }
    },
  )
}
