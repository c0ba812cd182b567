/** POST /score: scores completions and stores nothing. */
import { parsePlainScoreRequest, ScoreRequest, ScoreResponse } from '@reasoning-gym-server/contract/score'
import type { RolloutsFeature } from '../src/features/rollouts/index.ts'
import type { App } from '../src/http/app.ts'
import { uncheckedSerializer, withFastParser } from '../src/http/validation.ts'

const SCORE_BODY_BYTES = 64 * 1024 * 1024

export const ScoreBody = withFastParser(ScoreRequest, parsePlainScoreRequest)

export function addScoreRoutes(app: App, { scoring }: RolloutsFeature): void {
  app.post(
    '/score',
    {
      config: { access: 'scorers', writesRedis: false },
      serializerCompiler: uncheckedSerializer,
      bodyLimit: SCORE_BODY_BYTES,
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
