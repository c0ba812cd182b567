/** POST /rollouts, GET /rollouts/{group}: groups of rollouts, scored by workers. */
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { DEFAULT_RUN, Group, GroupId, GroupSubmission, RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { RolloutsFeature } from '../src/features/rollouts/index.ts'
import type { App } from '../src/http/app.ts'
import { LARGE_BODY_LIMIT_BYTES } from '../src/http/bodies/request-bodies.ts'
import { ifMatchHeader, parsePreferWaitMs } from '../src/http/request-headers.ts'
import { uncheckedSerializer } from '../src/http/validation.ts'

/** Smaller bodies are read even if the buffer is full, because they may repeat a known group. */
const EARLY_REJECT_MIN_BYTES = 64 * 1024

const RunField = {
  run: RunName.optional().describe(
    'Run that the groups belong to; `default` if not given. It is created if it does not exist.',
  ),
}
const SingleGroupBody = z
  .strictObject({ ...RunField, ...GroupSubmission.shape })
  .meta({ id: 'SingleGroupRequest', description: 'One group to score.' })
const MultipleGroupsBody = z
  .strictObject({
    ...RunField,
    groups: z.array(GroupSubmission).min(1).max(256).describe('Groups to score.'),
  })
  .meta({ id: 'MultipleGroupsRequest', description: 'Up to 256 groups to score.' })

const RolloutsRequestBody = z
  .xor([SingleGroupBody, MultipleGroupsBody])
  .meta({ id: 'RolloutsRequest', description: 'One group, or up to 256 of them.' })

interface RolloutsRequest {
  body: z.infer<typeof SingleGroupBody> | z.infer<typeof MultipleGroupsBody>
  query: { run?: string | undefined }
  headers: z.infer<typeof RolloutsHeaders>
  caller: Caller
  id: string
}

const RolloutsHeaders = z.looseObject({
  ...ifMatchHeader,
  prefer: z
    .string()
    .optional()
    .describe('`wait=N`: hold the response until the groups are scored, for at most N seconds.'),
})
export const RolloutsResponse = z
  .union([
    Group,
    z
      .strictObject({ groups: z.array(Group).describe('Groups in the order of the request.') })
      .meta({ id: 'GroupList', description: 'The groups of the request, in its order.' }),
  ])
  .meta({ id: 'RolloutsResponse', description: 'The group of the request, or a list of its groups.' })

export function addRolloutRoutes(app: App, { submission }: RolloutsFeature): void {
  app.post(
    '/rollouts',
    {
      config: { access: 'trainers', defaultRun: DEFAULT_RUN },
      serializerCompiler: uncheckedSerializer,
      bodyLimit: LARGE_BODY_LIMIT_BYTES,
      onRequest: async ({ query, headers }) => {
        const { data: run } = RunName.safeParse((query as { run?: unknown }).run) // not validated yet
        const bytes = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
        if (run !== undefined && bytes > EARLY_REJECT_MIN_BYTES) await submission.assertCapacity(run)
      },
      schema: {
        operationId: 'submitRollouts',
        tags: ['rollouts'],
        summary: 'Submit rollouts',
        description:
          'Accepts a group, or up to 256 groups, for scoring by the workers. An accepted group is not lost, and a repeated request counts once. With `Prefer: wait=N` the response is held until the groups are scored.',
        headers: RolloutsHeaders,
        querystring: z.strictObject({
          run: RunName.optional().describe(
            'Same as `run` in the body. With it, the server can reject a large body before reading it if the buffer is full.',
          ),
        }),
        body: RolloutsRequestBody, // see ItemsRequest
        response: {
          200: RolloutsResponse.describe('All groups are scored or failed.'),
          202: RolloutsResponse.describe('Accepted and queued. `Location` has the URL of the group.'),
        },
        problems: [
          'invalid_item_id',
          'engine_version_mismatch',
          'task_code_conflict',
          'group_conflict',
          'run_changed',
          'unknown_run',
          'unknown_group',
          'buffer_full',
        ],
      },
    },
    async (request, reply) => {
      const { several, run, accepted } = await accept(request)
      request.releaseBody()
      const groups = await submission.waitForGroups(accepted, parsePreferWaitMs(request.headers.prefer))
      const done = groups.every(({ status }) => status !== 'queued')
      const [first] = groups
      if (several || !first) return reply.status(done ? 200 : 202).send({ groups })
      if (!done) reply.header('location', `/rollouts/${first.group_id}?run=${run}`)
      return reply.status(done ? 200 : 202).send(first)
    },
  )

  /** Separate from the wait that follows, so that nothing holds the body during the wait. */
  async function accept({ body, query, headers, caller, id }: RolloutsRequest) {
    if (query.run !== undefined && body.run !== undefined && query.run !== body.run) {
      throw new ServiceError(
        'invalid_request',
        `The query names the run ${query.run}, but the body names ${body.run}. Name one run, or the same run in both.`,
      )
    }
    const run = body.run ?? query.run ?? DEFAULT_RUN // it may stand in either, so neither schema has a default
    const several = 'groups' in body
    const options = { request: id, caller, condition: headers['if-match'] }
    return { several, run, accepted: await submission.submit(run, several ? body.groups : [body], options) }
  }

  app.get(
    '/rollouts/:group',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getGroup',
        tags: ['rollouts'],
        summary: 'Get a group',
        description:
          'Returns the verdicts of a group, or 202 while it is queued. With `Prefer: wait=N` the response is held until the group is scored.',
        headers: RolloutsHeaders,
        params: z.strictObject({ group: GroupId }),
        querystring: z.strictObject({ run: RunName.default(DEFAULT_RUN).describe('Run that the group belongs to.') }),
        response: {
          200: Group,
          202: Group.describe('The group is still queued.'),
        },
        problems: ['unknown_run', 'unknown_group'],
      },
    },
    async ({ params, query, headers }, reply) => {
      const waitMs = parsePreferWaitMs(headers.prefer)
      const group = await submission.requireGroupOfRun(query.run, params.group, waitMs, headers['if-match'])
      return reply.status(group.status === 'queued' ? 202 : 200).send(group)
    },
  )
}
