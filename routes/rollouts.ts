/** POST /rollouts, GET /rollouts/{group}: groups of completions, scored by workers. */
import { z } from 'zod'
import { Fault } from '../src/faults.ts'
import { waitMsOf } from '../src/prefer.ts'
import { type Caller, mayUse } from '../src/words/caller.ts'
import { problems } from '../src/words/problem.ts'
import { Group, GroupId, GroupInput, RunName } from '../src/words/rollout.ts'
import type { App, Services } from './context.ts'

const ROLLOUTS_BODY_BYTES = 64 * 1024 * 1024

/** Bodies up to here are read before a full run refuses them: they may hold a known group. */
const READ_ANYWAY_BYTES = 64 * 1024

const Run = { run: RunName.optional().describe('`default` if not given') }
const OneGroup = z.strictObject({ ...Run, ...GroupInput.shape })
const SeveralGroups = z.strictObject({ ...Run, groups: z.array(GroupInput).min(1).max(256) })

interface Posting {
  body: z.infer<typeof OneGroup> | z.infer<typeof SeveralGroups>
  query: { run?: string | undefined }
  id: string
  caller: Caller
}

const Headers = z.looseObject({
  prefer: z.string().optional().describe('`wait=N`: hold the answer until it is ready, N seconds at most'),
})
const Groups = z.strictObject({ groups: z.array(Group) })

export function rollouts(app: App, { intake, runs, completions }: Services): void {
  // Who waits for a group or a batch is told how it stands when the server closes, not cut off.
  app.addHook('preClose', (done) => {
    completions.close()
    done()
  })

  app.post(
    '/rollouts',
    {
      bodyLimit: ROLLOUTS_BODY_BYTES,
      onRequest: async ({ query, headers }) => {
        const { data: run } = RunName.safeParse((query as { run?: unknown }).run) // not validated yet
        const bytes = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
        if (run !== undefined && bytes > READ_ANYWAY_BYTES) await intake.assertRoom(run)
      },
      schema: {
        tags: ['rollouts'],
        summary: 'Posts a group, or up to 256; what is sent twice counts once',
        headers: Headers,
        querystring: z.strictObject({
          run: RunName.optional().describe('Where named, a full run refuses a large body unread'),
        }),
        body: z.xor([OneGroup, SeveralGroups]), // see ItemsAsk
        response: {
          200: z.union([Group, Groups]).describe('All groups are done'),
          202: z.union([Group, Groups]).describe('Accepted; `Location` says where to look'),
          ...problems(
            'invalid_request',
            'invalid_json',
            'invalid_item_id',
            'engine_version_mismatch',
            'group_conflict',
            'unknown_group',
            'body_too_large',
            'buffer_full',
            'redis_unavailable',
            'redis_full',
          ),
        },
      },
    },
    async (request, reply) => {
      const { several, run, accepted } = await accept(request)
      request.forgetBody()
      const groups = await intake.answer(accepted, waitMsOf(request.headers.prefer))
      const done = groups.every(({ status }) => status !== 'queued')
      const [first] = groups
      if (several || !first) return reply.status(done ? 200 : 202).send({ groups })
      if (!done) reply.header('location', `/rollouts/${first.group_id}?run=${run}`)
      return reply.status(done ? 200 : 202).send(first)
    },
  )

  /** Apart from the wait that follows, so that nothing holds the body then. */
  async function accept({ body, query, id, caller }: Posting) {
    if (query.run !== undefined && body.run !== undefined && query.run !== body.run) {
      throw new Fault('invalid_request', `The query names run ${query.run}, the body ${body.run}`)
    }
    const run = body.run ?? query.run ?? 'default'
    // The guard holds a bound key to the runs that a call names; this one may name none.
    if (!mayUse(caller, run)) throw new Fault('forbidden', `This key is bound to other runs than ${run}`)
    const several = 'groups' in body
    return { several, run, accepted: await intake.accept(run, several ? body.groups : [body], id) }
  }

  app.get(
    '/rollouts/:group',
    {
      schema: {
        tags: ['rollouts'],
        summary: 'A group as it stands',
        headers: Headers,
        params: z.strictObject({ group: GroupId }),
        querystring: z.strictObject({ run: RunName.default('default') }),
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
