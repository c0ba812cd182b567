/** POST /score: scores completions and stores nothing. */
import { parsePlainScoreRequest, ScoreRequest, ScoreResponse } from '@reasoning-gym-server/contract/score'
import type { RolloutsFeature } from '../src/features/rollouts/index.ts'
import type { App } from '../src/http/app.ts'
import { LARGE_BODY_LIMIT_BYTES } from '../src/http/bodies/request-bodies.ts'
import { uncheckedSerializer, withFastParser } from '../src/http/validation.ts'

export const ScoreBody = withFastParser(ScoreRequest, parsePlainScoreRequest)

export function addScoreRoutes(app: App, { scoring }: RolloutsFeature): void {
  app.post(
    '/score',
    {
      config: { access: 'scorers', writesRedis: false },
      serializerCompiler: uncheckedSerializer,
      bodyLimit: LARGE_BODY_LIMIT_BYTES,
      schema: {
        operationId: 'scoreCompletions',
        tags: ['scoring'],
        summary: 'Score completions',
        description:
          'Scores up to 4,096 completions and stores nothing: a plain reward function. Completions that could not be scored have the reward null.',
        body: ScoreBody,
        response: {
          200: ScoreResponse,
        },
        problems: [
          'invalid_config',
          'invalid_item_id',
          'seed_reserved',
          'unknown_task',
          'engine_version_mismatch',
          'task_code_conflict',
          'make_failed',
          'engine_unavailable',
        ],
      },
    },
    ({ body }) => scoring.score(body),
  )
}
