/** GET /runs/{run}/groups and …/{group}: the most recent groups of a run, for inspection. */

import { queryBoolean } from '@reasoning-gym-server/contract/common'
import {
  GroupFilter,
  GroupOrder,
  RetainedGroup,
  RetainedGroupPage,
} from '@reasoning-gym-server/contract/retained-group'
import { GroupId } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { RolloutsFeature } from '../src/features/rollouts/index.ts'
import type { App } from '../src/http/app.ts'
import { runRouteSchema } from './runs.ts'

const GroupsQuery = z.strictObject({
  ...GroupFilter.shape,
  q: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Only groups with this text in a completion or its reasoning, in any case.'),
  sort: GroupOrder.default('newest').describe('Order of the groups.'),
  cursor: z
    .string()
    .regex(/^(-?[\d.e+-]{1,24}~|Infinity~)?\d{1,15}$/, 'must be a cursor that next_cursor returned')
    .optional()
    .describe('Value of `next_cursor` from the previous page.'),
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('Maximum number of groups.'),
  full: queryBoolean()
    .default(false)
    .describe('If true, completions and answers are complete. If false, long ones are shortened.'),
  hardened: queryBoolean().default(false).describe('If true, groups have `hardened_scores`.'),
  paid_not_right: queryBoolean()
    .default(false)
    .describe(
      'If true, only groups in which upstream scoring counts an answer as right that hardened scoring rejects. A call grades at most 200 groups.',
    ),
})

export function addGroupRoutes(app: App, { listRetained, requireRetained }: RolloutsFeature): void {
  app.get(
    '/runs/:run/groups',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'listRetainedGroups',
        ...runRouteSchema,
        summary: 'List the most recent groups of a run',
        description:
          'Returns the groups that the server keeps (`keep_groups`), and examples of each format fault. A call examines at most 1,000 groups and 32 MB of texts; `next_cursor` continues.',
        querystring: GroupsQuery,
        response: {
          200: RetainedGroupPage,
        },
      },
    },
    async ({ params, query: { q, sort, cursor, limit, full, hardened, paid_not_right, ...filter }, headers }) =>
      listRetained(params.run, { filter, q, sort, cursor, limit, full, hardened, paid_not_right }, headers['if-match']),
  )

  app.get(
    '/runs/:run/groups/:group',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getRetainedGroup',
        ...runRouteSchema,
        summary: 'Get a group with its texts',
        description:
          'Returns a group that the server keeps (`keep_groups`) with complete completions and answers. The role admin also gets the expected answer.',
        params: runRouteSchema.params.extend({ group: GroupId }),
        response: {
          200: RetainedGroup,
        },
        problems: ['unknown_group'],
      },
    },
    async ({ params: { run, group }, headers, caller }) =>
      requireRetained(run, { group, reveal: caller.role === 'admin' }, headers['if-match']),
  )
}
