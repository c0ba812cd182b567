/** GET /dumps, GET and DELETE /dumps/{name}: the dump files of runs. GET /runs/{run}/export: rollouts as training data. */
import { canAccessRun } from '@reasoning-gym-server/contract/caller'
import { queryBoolean, textResponse } from '@reasoning-gym-server/contract/common'
import { DumpFile, DumpName } from '@reasoning-gym-server/contract/dump'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { ExportManifest, ExportParams } from '@reasoning-gym-server/contract/export'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { DumpsFeature } from '../src/features/dumps/index.ts'
import type { App } from '../src/http/app.ts'
import { IfMatchHeaders } from '../src/http/request-headers.ts'
import { sendJsonLines, sendJsonLinesFile } from '../src/http/streamed-responses.ts'

const Params = z.strictObject({ name: DumpName })

export function addDumpRoutes(app: App, { files }: DumpsFeature): void {
  app.get(
    '/dumps',
    {
      config: { access: 'readers', requiresRunForBoundKey: true },
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
        },
      },
    },
    async ({ query }) => ({ files: await files.listFiles(query.run) }),
  )

  app.get(
    '/dumps/:name',
    {
      config: { access: 'readers' },
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
        },
        problems: ['unknown_dump', 'dump_elsewhere'],
      },
    },
    async (request, reply) => {
      const { path, run } = await files.requireFile(request.params.name)
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
      config: { access: 'admins' },
      schema: {
        operationId: 'deleteDump',
        tags: ['dumps'],
        summary: 'Delete a dump file',
        description: 'Deletes the file from disk.',
        params: Params,
        response: {
          204: z.null().describe('The file is deleted.'),
        },
        problems: ['unknown_dump', 'dump_elsewhere'],
      },
    },
    async ({ params }, reply) => {
      await files.deleteFile(params.name)
      return reply.status(204).send(null)
    },
  )
}

export function addExportRoutes(app: App, { exports }: DumpsFeature): void {
  app.get(
    '/runs/:run/export',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'exportRun',
        tags: ['dumps'],
        summary: 'Export rollouts as training data',
        description:
          'Streams chats (`sft`) or preference pairs (`dpo`) as JSONL. With `manifest=true` the response describes the source of the export instead.',
        params: z.strictObject({ run: RunName }),
        headers: IfMatchHeaders,
        querystring: z.strictObject({
          ...ExportParams.shape,
          manifest: queryBoolean().default(false).describe('If true, returns the manifest in place of the lines.'),
        }),
        response: {
          200: {
            description: 'Lines of the export, or its manifest.',
            content: {
              'application/x-ndjson': { schema: z.string().describe('JSON objects, one per line.') },
              'application/json': { schema: ExportManifest },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const { manifest, ...ask } = request.query
      const { run } = request.params
      const options = { condition: request.headers['if-match'], signal: reply.reader.closed }
      if (manifest) return exports.buildManifest(run, ask, options)
      const lines = await exports.openLines(run, ask, options)
      reply.header('link', `<?${new URLSearchParams(buildManifestQuery(ask)).toString()}>; rel="describedby"`)
      return sendJsonLines(lines, reply)
    },
  )
}

function buildManifestQuery(ask: ExportParams): Record<string, string> {
  const asked = Object.entries({ ...ask, manifest: true })
  return Object.fromEntries(asked.map(([name, value]) => [name, String(value)]))
}
