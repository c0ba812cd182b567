/** GET /runs/{run}/export: a run's rollouts as training data. */

import { ExportManifest, ExportParams } from '@reasoning-gym-server/contract/export'
import { queryBoolean } from '@reasoning-gym-server/contract/query-boolean'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { DumpsFeature } from '../src/features/dumps/index.ts'
import type { App } from '../src/http/app.ts'
import { ifMatchHeader } from '../src/http/request-headers.ts'
import { sendJsonLines } from '../src/http/streamed-responses.ts'

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
        headers: z.looseObject(ifMatchHeader),
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
        examples: { query: { format: 'sft' } },
      },
    },
    async (request, reply) => {
      const { manifest, ...ask } = request.query
      const { run } = request.params
      const condition = request.headers['if-match']
      if (manifest) return exports.buildManifest(run, ask, condition)
      const lines = await exports.openLines(run, ask, condition)
      reply.header('link', `<?${new URLSearchParams(buildManifestQuery(ask)).toString()}>; rel="describedby"`)
      return sendJsonLines(lines, reply)
    },
  )
}

function buildManifestQuery(ask: ExportParams): Record<string, string> {
  const asked = Object.entries({ ...ask, manifest: true })
  return Object.fromEntries(asked.map(([name, value]) => [name, String(value)]))
}
