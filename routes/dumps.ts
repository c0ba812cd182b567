/** GET /dumps, GET and DELETE /dumps/{name}: the files that runs have written. */
import { z } from 'zod'
import { canAccessRun } from '../src/contract/caller.ts'
import { DumpFile, DumpName } from '../src/contract/dump.ts'
import { ServiceError } from '../src/contract/errors.ts'
import { RunName } from '../src/contract/rollout.ts'
import { textResponse } from '../src/contract/text-response.ts'
import type { DumpsFeature } from '../src/features/dumps/index.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { sendJsonLinesFile } from '../src/http/json-lines-responses.ts'

const Params = z.strictObject({ name: DumpName })

export function addDumpRoutes(app: App, { dumps }: DumpsFeature): void {
  app.get(
    '/dumps',
    {
      schema: {
        operationId: 'listDumps',
        tags: ['dumps'],
        summary: 'The dump files of all nodes, oldest first',
        querystring: z.strictObject({ run: RunName.optional() }),
        response: {
          200: z.strictObject({ files: z.array(DumpFile) }),
          ...problemResponses('invalid_request', 'redis_unavailable'),
        },
      },
    },
    async ({ query }) => ({ files: await dumps.listFiles(query.run) }),
  )

  app.get(
    '/dumps/:name',
    {
      schema: {
        operationId: 'getDump',
        tags: ['dumps'],
        summary: 'A dump file as JSONL: whole, in ranges, or compressed',
        params: Params,
        response: {
          200: textResponse('application/x-ndjson', 'A group a line'),
          206: textResponse('application/x-ndjson', 'The range that was asked for'),
          304: z.null().describe('What the caller has is the same'),
          416: z.null().describe('The file ends before the range begins'),
          ...problemResponses('invalid_request', 'unknown_dump', 'dump_elsewhere', 'redis_unavailable'),
        },
      },
    },
    async (request, reply) => {
      const { path, run } = await dumps.requireFile(request.params.name)
      if (!canAccessRun(request.caller, run)) throw new ServiceError('forbidden', 'This key is bound to other runs')
      return sendJsonLinesFile(path, request.raw, reply)
    },
  )

  app.delete(
    '/dumps/:name',
    {
      schema: {
        operationId: 'deleteDump',
        tags: ['dumps'],
        summary: 'Deletes a dump file (admin)',
        params: Params,
        response: {
          204: z.null().describe('Deleted'),
          ...problemResponses('invalid_request', 'unknown_dump', 'dump_elsewhere', 'redis_unavailable'),
        },
      },
    },
    async ({ params }, reply) => {
      await dumps.deleteFile(params.name)
      return reply.status(204).send(null)
    },
  )
}
