/** /duels: two models answer the same items until it is clear which one is better. */
import { z } from 'zod'
import { DuelId, DuelInput, DuelItem, DuelView } from '../src/contract/duel.ts'
import { ModelApiKey } from '../src/contract/generation-job.ts'
import { RunName } from '../src/contract/rollout.ts'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import { renderDuelReport } from '../src/features/evals/markdown.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { sendJsonLines } from '../src/http/json-lines-responses.ts'
import { addGenerationJobRoutes, formatLines } from './generation-jobs.ts'

const DuelParams = z.strictObject({ id: DuelId })

const DuelKeys = z
  .strictObject({
    api_key_a: ModelApiKey.optional().describe('API key of the first model.'),
    api_key_b: ModelApiKey.optional().describe('API key of the second model.'),
  })
  .meta({ id: 'DuelKeys', description: 'API keys of the models of a duel.' })
  .default({})
  .describe('API keys of the models. The server deletes them when the duel ends, so send them again.')

export function addDuelRoutes(app: App, { duels }: EvalsFeature): void {
  addGenerationJobRoutes(app, duels.jobs, {
    path: '/duels',
    params: DuelParams,
    tag: 'evals',
    name: 'Duel',
    noun: 'a duel',
    unknownCode: 'unknown_duel',
    input: DuelInput,
    view: DuelView,
    start: {
      description:
        'Two models answer the same items until a sequential test shows which one is better, or that the difference is small. Send an `Idempotency-Key` if you retry.',
      problems: [
        'invalid_request',
        'invalid_config',
        'unknown_task',
        'run_changed',
        'run_recreated',
        'idempotency_in_progress',
        'too_many_active',
        'redis_unavailable',
      ],
    },
    list: {
      summary: 'List duels',
      description: 'Returns duels, newest first.',
      query: z.strictObject({
        run: RunName.optional().describe('Only duels of this run.'),
        label: z
          .string()
          .optional()
          .describe('Only duels with this label. For labels with values: the name, the value or `name=value`.'),
        limit: z.coerce.number().int().min(1).max(1000).default(100).describe('Maximum number of duels.'),
      }),
      response: z
        .strictObject({ duels: z.array(DuelView).describe('Duels, newest first.') })
        .meta({ id: 'DuelList', description: 'Duels that match the query.' }),
      field: 'duels',
      problems: ['redis_unavailable'],
    },
    get: { description: 'While the duel is active, its result is interim.' },
    cancel: { description: 'Stops the duel and keeps its interim result. A duel that has ended does not change.' },
    resume: {
      description: 'Continues a duel that was cancelled or failed. Samples with a score are kept.',
      body: DuelKeys,
      listApiKeys: ({ api_key_a, api_key_b }) => [api_key_a, api_key_b],
      problems: ['invalid_request', 'unknown_duel', 'too_many_active', 'redis_unavailable'],
    },
    report: { render: renderDuelReport },
  })

  app.get(
    '/duels/:id/items',
    {
      schema: {
        operationId: 'listDuelItems',
        tags: ['evals'],
        summary: 'List the items of a duel',
        description: 'Streams the items that both models have answered, one JSON object per line.',
        params: DuelParams,
        response: {
          200: {
            description: 'Items, one JSON object per line. The schema is that of one line.',
            content: { 'application/x-ndjson': { schema: DuelItem } },
          },
          ...problemResponses('unknown_duel', 'redis_unavailable'),
        },
      },
    },
    async ({ params: { id }, caller }, reply) =>
      sendJsonLines(formatLines(await duels.streamItems({ id, caller })), reply),
  )
}
