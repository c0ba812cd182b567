/** GET and PUT /runs/{run}/checkpoint: checkpoints of runs. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { Run } from '@reasoning-gym-server/contract/run'
import { z } from 'zod'
import { CHECKPOINT_VERSION, Checkpoint, DiscardedCounts } from '../src/features/runs/checkpoint/document.ts'
import { parseCheckpoint } from '../src/features/runs/checkpoint/parse-document.ts'
import type { RunsFeature } from '../src/features/runs/index.ts'
import type { App } from '../src/http/app.ts'
import { LARGE_BODY_LIMIT_BYTES } from '../src/http/bodies/request-bodies.ts'
import { formatIssueMessage } from '../src/http/errors/field-errors.ts'
import { formatEntityTag } from '../src/http/request-headers.ts'
import { formatJsonPieces, sendJsonPieces } from '../src/http/streamed-responses.ts'
import { createValidationError, withParserInHandler } from '../src/http/validation.ts'
import { runRouteSchema } from './runs.ts'

export function addCheckpointRoutes(app: App, { checkpoints, views }: RunsFeature): void {
  app.get(
    '/runs/:run/checkpoint',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'createCheckpoint',
        ...runRouteSchema,
        summary: 'Create a checkpoint of a run',
        description:
          'Returns everything that is needed to restore the run, in one document: settings, curriculum, statistics and the position in the item sequence. Queued and buffered groups are not included.',
        response: { 200: Checkpoint },
      },
    },
    async ({ params, headers }, reply) =>
      sendJsonPieces(formatJsonPieces(await checkpoints.create(params.run, headers['if-match'])), reply),
  )

  app.put(
    '/runs/:run/checkpoint',
    {
      config: { access: 'trainers', ignoresBodyRun: true },
      bodyLimit: LARGE_BODY_LIMIT_BYTES,
      preValidation: refuseOtherVersion,
      schema: {
        operationId: 'restoreCheckpoint',
        ...runRouteSchema,
        summary: 'Restore a run from a checkpoint',
        description:
          'Restores the run, on this server or another one, under the same or another name. A new epoch begins: queued and buffered groups and open batches of the run are discarded and counted in `forgotten`.',
        body: withParserInHandler(Checkpoint),
        response: {
          200: z
            .strictObject({
              ...Run.shape,
              epoch: z.int().describe('Number of the epoch that begins with this call.'),
              forgotten: DiscardedCounts,
            })
            .meta({ id: 'RestoredRun', description: 'A run after a checkpoint was restored.' }),
        },
        problems: ['unknown_task', 'invalid_config', 'engine_version_mismatch', 'run_changed', 'engine_unavailable'],
      },
    },
    async ({ params, body, headers, caller }, reply) => {
      const parsed = await parseCheckpoint(body, { error: formatIssueMessage })
      if ('issues' in parsed) throw createValidationError(parsed, 'body')
      const { run, forgotten } = await checkpoints.restore(params.run, parsed.document, caller, headers['if-match'])
      reply.header('etag', formatEntityTag(run.incarnation))
      return reply.send({ ...(await views.buildFor(caller, run)), epoch: run.epoch, forgotten })
    },
  )
}

/** Rejects a checkpoint of another version with one line, in place of all fields that differ. */
async function refuseOtherVersion({ body }: { body: unknown }): Promise<void> {
  const other = z.object({ version: z.int() }).safeParse(body)
  if (!other.success || other.data.version === CHECKPOINT_VERSION) return
  throw new ServiceError(
    'invalid_request',
    `This checkpoint has version ${other.data.version}, but this server reads only version ${CHECKPOINT_VERSION}. Create a checkpoint with this server version.`,
    { errors: [{ path: 'body.version', message: `must be ${CHECKPOINT_VERSION}` }] },
  )
}
