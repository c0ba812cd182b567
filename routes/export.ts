/** GET /runs/{run}/export: a run's rollouts as data to train on. */
import { z } from 'zod'
import { sendLines } from '../src/plugins/files.ts'
import { ExportAsk, ExportManifest } from '../src/words/export.ts'
import { problems } from '../src/words/problem.ts'
import { RunName } from '../src/words/rollout.ts'
import type { App, Services } from './context.ts'

export function exportRoute(app: App, { runs, exports }: Pick<Services, 'runs' | 'exports'>): void {
  app.get(
    '/runs/:run/export',
    {
      schema: {
        tags: ['dumps'],
        summary: 'Chat lines or preference pairs as JSONL; with `manifest=true` what they come from, as JSON',
        params: z.strictObject({ run: RunName }),
        querystring: z.strictObject({
          ...ExportAsk.shape,
          manifest: z.stringbool().default(false).describe('The manifest in place of the lines'),
        }),
        response: {
          200: {
            description: 'The lines, or the manifest',
            content: {
              'application/x-ndjson': { schema: z.string().describe('A line of JSON each') },
              'application/json': { schema: ExportManifest },
            },
          },
          ...problems('invalid_request', 'unknown_run', 'redis_unavailable'),
        },
      },
    },
    async (request, reply) => {
      const { manifest, ...ask } = request.query
      const run = await runs.find(request.params.run)
      if (manifest) return exports.manifest(run, ask)
      reply.header('link', `<?${new URLSearchParams(manifestQuery(ask)).toString()}>; rel="describedby"`)
      return sendLines(exports.lines(run, ask), request, reply)
    },
  )
}

function manifestQuery(ask: ExportAsk): Record<string, string> {
  const asked = Object.entries({ ...ask, manifest: true })
  return Object.fromEntries(asked.map(([name, value]) => [name, String(value)]))
}
