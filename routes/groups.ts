/** GET /runs/{run}/groups: the most recent groups of a run, for inspection. */
import { z } from 'zod'
import { queryBoolean } from '../src/contract/query-boolean.ts'
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
    .regex(/^\d{1,15}$/, 'must be a cursor that next_cursor returned')
    .optional()
    .describe('Value of `next_cursor` from the previous page.'),
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('Maximum number of groups.'),
  full: queryBoolean()
    .default(false)
    .describe('If true, completions and answers are complete. If false, long ones are shortened.'),
})

export function addGroupRoutes(app: App, { listRetained }: RolloutsFeature): void {
  app.get(
    '/runs/:run/groups',
    {
      schema: {
        operationId: 'listRetainedGroups',
        tags: ['runs'],
        summary: 'List the most recent groups of a run',
        description:
          'Returns the groups that the server keeps (`keep_groups`), newest first, and examples of each format fault.',
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
