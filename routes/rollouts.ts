/** POST /rollouts, GET /rollouts/{group}: groups of completions, scored by workers. */
import { z } from 'zod'
import { Fault } from '../src/faults.ts'
import { waitMsOf } from '../src/prefer.ts'
import { problems } from '../src/words/problem.ts'
import { Group, GroupId, GroupInput, RunName } from '../src/words/rollout.ts'
import type { App, Services } from './context.ts'

export const ROLLOUTS_BODY_BYTES = 64 * 1024 * 1024

const InRun = { run: RunName.default('default') }
const OneGroup = z.strictObject({ ...InRun, ...GroupInput.shape })
const SeveralGroups = z.strictObject({ ...InRun, groups: z.array(GroupInput).min(1).max(256) })

const Headers = z.looseObject({
  prefer: z.string().optional().describe('`wait=N`: hold the answer until it is ready, N seconds at most'),
})
const Groups = z.strictObject({ groups: z.array(Group) })

export function rollouts(app: App, { intake, runs }: Services): void {
  app.post(
    '/rollouts',
    {
      bodyLimit: ROLLOUTS_BODY_BYTES,
      schema: {
        tags: ['rollouts'],
        summary: 'Posts a group, or up to 256; what is sent twice counts once',
        headers: Headers,
        querystring: z.strictObject({ run: RunName.optional() }),
        body: z.union([OneGroup, SeveralGroups]),
        response: {
          200: z.union([Group, Groups]).describe('All groups are done'),
          202: z.union([Group, Groups]).describe('Accepted; `Location` says where to look'),
          ...problems(
            'invalid_request',
            'invalid_json',
            'invalid_item_id',
            'engine_version_mismatch',
            'group_conflict',
            'body_too_large',
            'buffer_full',
            'redis_unavailable',
            'redis_full',
          ),
        },
      },
    },
    async ({ body, headers, query }, reply) => {
      if (query.run !== undefined && query.run !== body.run) {
        throw new Fault('invalid_request', `The query names run ${query.run}, the body ${body.run}`)
      }
      const waitMs = waitMsOf(headers.prefer)
      const { run, ...group } = body
      const groups = await intake.post(run, 'groups' in group ? group.groups : [group], waitMs)
      const done = groups.every(({ status }) => status !== 'queued')
      const [first] = groups
      if ('groups' in group || !first) return reply.status(done ? 200 : 202).send({ groups })
      if (!done) reply.header('location', `/rollouts/${first.group_id}?run=${run}`)
      return reply.status(done ? 200 : 202).send(first)
    },
  )

  app.get(
    '/rollouts/:group',
    {
      schema: {
        tags: ['rollouts'],
        summary: 'A group as it stands',
        headers: Headers,
        params: z.strictObject({ group: GroupId }),
        querystring: z.strictObject(InRun),
        response: {
          200: Group,
          202: Group.describe('Still queued'),
          ...problems('invalid_request', 'unknown_run', 'unknown_group', 'redis_unavailable'),
        },
      },
    },
    async ({ params, query, headers }, reply) => {
      const { name, epoch } = await runs.find(query.run)
      const group = await intake.look({ run: name, epoch, group: params.group }, waitMsOf(headers.prefer))
      return reply.status(group.status === 'queued' ? 202 : 200).send(group)
    },
  )
}
