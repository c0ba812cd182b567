/** GET /runs/{run}/groups: a look at what a run has scored of late. */
import { z } from 'zod'
import { GroupFilter, RetainedGroupPage } from '../src/contract/retained-group.ts'
import { RunName } from '../src/contract/rollout.ts'
import type { RolloutsFeature } from '../src/features/rollouts/index.ts'
import type { App } from '../src/http/app.ts'
import { ifMatchHeader } from '../src/http/conditional-headers.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'

const GroupsQuery = z.strictObject({
  ...GroupFilter.shape,
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'a cursor, as next_cursor gave it')
    .optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  full: z.stringbool().default(false).describe('Whole completions and answers, not their beginnings and ends'),
})

export function addGroupRoutes(app: App, { listRetained }: RolloutsFeature): void {
  app.get(
    '/runs/:run/groups',
    {
      schema: {
        operationId: 'listRetainedGroups',
        tags: ['runs'],
        summary: 'The last groups kept, newest first, with samples of every format fault',
        params: z.strictObject({ run: RunName }),
        headers: z.looseObject(ifMatchHeader),
        querystring: GroupsQuery,
        response: {
          200: RetainedGroupPage,
          ...problemResponses('invalid_request', 'unknown_run', 'run_recreated', 'redis_unavailable'),
        },
      },
    },
    async ({ params, query: { cursor, limit, full, ...filter }, headers }) =>
      listRetained(params.run, { filter, cursor, limit, full }, headers['if-match']),
  )
}
