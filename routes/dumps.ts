/** GET /dumps, GET and DELETE /dumps/{name}: the files that runs have written. */
import { z } from 'zod'
import { Fault } from '../src/faults.ts'
import { sendFile } from '../src/plugins/files.ts'
import { mayUse } from '../src/words/caller.ts'
import { DumpFile, DumpName } from '../src/words/dump.ts'
import { problems } from '../src/words/problem.ts'
import { RunName } from '../src/words/rollout.ts'
import { textOf } from '../src/words/text.ts'
import type { App, Services } from './context.ts'

const Params = z.strictObject({ name: DumpName })

export function dumps(app: App, { dumps }: Services): void {
  app.get(
    '/dumps',
    {
      schema: {
        tags: ['dumps'],
        summary: 'The dump files of all nodes, oldest first',
        querystring: z.strictObject({ run: RunName.optional() }),
        response: {
          200: z.strictObject({ files: z.array(DumpFile) }),
          ...problems('invalid_request', 'redis_unavailable'),
        },
      },
    },
    async ({ query }) => ({ files: await dumps.list(query.run) }),
  )

  app.get(
    '/dumps/:name',
    {
      schema: {
        tags: ['dumps'],
        summary: 'A dump file as JSONL: whole, in ranges, or compressed',
        params: Params,
        response: {
          200: textOf('application/x-ndjson', 'A group a line'),
          206: textOf('application/x-ndjson', 'The range that was asked for'),
          304: z.null().describe('What the caller has is the same'),
          416: z.null().describe('The file ends before the range begins'),
          ...problems('invalid_request', 'unknown_dump', 'dump_elsewhere', 'redis_unavailable'),
        },
      },
    },
    async (request, reply) => {
      const { path, run } = await dumps.find(request.params.name)
      if (!mayUse(request.caller, run)) throw new Fault('forbidden', 'This key is bound to other runs')
      return sendFile(path, request, reply)
    },
  )

  app.delete(
    '/dumps/:name',
    {
      schema: {
        tags: ['dumps'],
        summary: 'Deletes a dump file (admin)',
        params: Params,
        response: {
          204: z.null().describe('Deleted'),
          ...problems('invalid_request', 'unknown_dump', 'dump_elsewhere', 'redis_unavailable'),
        },
      },
    },
    async ({ params }, reply) => {
      await dumps.remove(params.name)
      return reply.status(204).send(null)
    },
  )
}
