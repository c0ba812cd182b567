/** /duels: two models answer the same items until it is clear which one is better. */

import { DuelId, DuelInput, DuelItem, DuelView } from '@reasoning-gym-server/contract/duel'
import { ModelApiKey } from '@reasoning-gym-server/contract/generation-job'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import { renderDuelReport } from '../src/features/evals/report.ts'
import type { App } from '../src/http/app.ts'
import { formatJsonLines, sendJsonLines } from '../src/http/streamed-responses.ts'
import { addGenerationJobRoutes, EXAMPLE_MODEL } from './generation-jobs.ts'

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
    writers: 'evaluators',
    input: DuelInput,
    view: DuelView,
    start: {
      description:
        'Two models answer the same items until a sequential test shows which one is better, or that the difference is small. Send an `Idempotency-Key` if you retry.',
      problems: ['invalid_config', 'unknown_task', 'run_changed', 'idempotency_in_progress', 'too_many_active'],
      examples: {
        bodies: {
          'Two models on arithmetic': {
            a: EXAMPLE_MODEL,
            b: { ...EXAMPLE_MODEL, name: 'mock-2' },
            suite: { categories: ['arithmetic'] },
            max_items: 20,
            max_tokens: 1024,
          },
        },
        response: {
          id: 'duel-77f733d3613520f2c12c',
          status: 'queued',
          a: { name: 'mock', base_url: 'http://127.0.0.1:9000/v1' },
          b: { name: 'mock-2', base_url: 'http://127.0.0.1:9000/v1' },
          tasks: 18,
          max_items: 20,
          alpha: 0.05,
          smallest_difference: 0.05,
          run: null,
          labels: [],
          created_at: '2026-11-23T22:16:29.840Z',
          started_at: null,
          ended_at: null,
          progress: { done: 0, total: 40, failed: 0, mean_score: null },
          failures: [],
          detail: null,
          result: null,
        },
      },
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
    },
    get: { description: 'While the duel is active, its result is interim.' },
    cancel: { description: 'Stops the duel and keeps its interim result. A duel that has ended does not change.' },
    resume: {
      description: 'Continues a duel that was cancelled or failed. Samples with a score are kept.',
      body: DuelKeys,
      listApiKeys: ({ api_key_a, api_key_b }) => [api_key_a, api_key_b],
      examples: { bodies: { 'Without keys': {} } },
    },
    report: { render: renderDuelReport },
  })

  app.get(
    '/duels/:id/items',
    {
      config: { access: 'readers' },
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
        },
        problems: ['unknown_duel'],
      },
    },
    async ({ params: { id }, caller }, reply) =>
      sendJsonLines(formatJsonLines(await duels.streamItems({ id, caller })), reply),
  )
}
