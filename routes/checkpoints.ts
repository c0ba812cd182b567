/** GET and PUT /runs/{run}/checkpoint. */
import { z } from 'zod'
import { ServiceError } from '../src/contract/errors.ts'
import { RunName } from '../src/contract/rollout.ts'
import { Run } from '../src/contract/run.ts'
import { Checkpoint, DiscardedCounts } from '../src/features/runs/checkpoint-document.ts'
import type { RunsFeature } from '../src/features/runs/index.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'

const CHECKPOINT_BODY_BYTES = 64 * 1024 * 1024
const Params = z.strictObject({ run: RunName })

export function addCheckpointRoutes(app: App, { checkpoints, runRequests }: RunsFeature): void {
  app.get(
    '/runs/:run/checkpoint',
    {
      schema: {
        operationId: 'createCheckpoint',
        tags: ['runs'],
        summary: 'All that restoring a run takes, in one document',
        params: Params,
        response: { 200: Checkpoint, ...problemResponses('unknown_run', 'redis_unavailable') },
      },
    },
    ({ params }) => checkpoints.create(params.run),
  )

  app.put(
    '/runs/:run/checkpoint',
    {
      bodyLimit: CHECKPOINT_BODY_BYTES,
      preValidation: refuseFirstVersion,
      schema: {
        operationId: 'restoreCheckpoint',
        tags: ['runs'],
        summary: 'Restores a run from its checkpoint, here or under another name: a new epoch begins',
        params: Params,
        body: Checkpoint,
        response: {
          200: z.strictObject({ ...Run.shape, epoch: z.int(), forgotten: DiscardedCounts }),
          ...problemResponses(
            'invalid_request',
            'invalid_json',
            'unknown_task',
            'invalid_config',
            'engine_version_mismatch',
            'run_changed',
            'body_too_large',
            'engine_unavailable',
            'redis_unavailable',
            'redis_full',
          ),
        },
      },
    },
    ({ params, body }) => runRequests.restore(params.run, body),
  )
}

/** Version 1 had no field `version`. Its numbers had the names of fields in Redis, which have changed. */
async function refuseFirstVersion({ body }: { body: unknown }): Promise<void> {
  if (!z.looseObject({ format: z.literal(1) }).safeParse(body).success) return
  const message =
    'This checkpoint has version 1, which this server no longer reads: take one of the run with this server'
  throw new ServiceError('invalid_request', message, { errors: [{ path: 'body.version', message: 'must be 2' }] })
}
