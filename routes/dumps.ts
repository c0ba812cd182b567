/** GET /dumps, GET and DELETE /dumps/{name}: the dump files of runs. */

import { canAccessRun } from '@reasoning-gym-server/contract/caller'
import { DumpFile, DumpName } from '@reasoning-gym-server/contract/dump'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { textResponse } from '@reasoning-gym-server/contract/text-response'
import { z } from 'zod'
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
        summary: 'List dump files',
        description: 'Returns the dump files of all nodes, oldest first.',
        querystring: z.strictObject({ run: RunName.optional().describe('Only files of this run.') }),
        response: {
          200: z
            .strictObject({ files: z.array(DumpFile).describe('Dump files, oldest first.') })
            .meta({ id: 'DumpList', description: 'Dump files of all nodes.' }),
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
        summary: 'Download a dump file',
        description:
          'Returns the file as JSONL: whole, in ranges, or compressed. A file of another node is rejected with 409 `dump_elsewhere`.',
        params: Params,
        response: {
          200: textResponse('application/x-ndjson', 'The file, one group per line.'),
          206: textResponse('application/x-ndjson', 'The requested range of the file.'),
          304: z.null().describe('The caller’s copy is current.'),
          416: z.null().describe('The range begins after the end of the file.'),
          ...problemResponses('invalid_request', 'unknown_dump', 'dump_elsewhere', 'redis_unavailable'),
        },
      },
    },
    async (request, reply) => {
      const { path, run } = await dumps.requireFile(request.params.name)
      if (!canAccessRun(request.caller, run))
        throw new ServiceError(
          'forbidden',
          'This API key may not access the run of this file. Use a key that is bound to the run, or an unbound key.',
        )
      return sendJsonLinesFile(path, request.raw, reply)
    },
  )

  app.delete(
    '/dumps/:name',
    {
      schema: {
        operationId: 'deleteDump',
        tags: ['dumps'],
        summary: 'Delete a dump file',
        description: 'Deletes the file from disk.',
        params: Params,
        response: {
          204: z.null().describe('The file is deleted.'),
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
