/** /runs/{run}/rescore: the kept groups of a run, scored again under other rules. */
import { Rescore, RescoreInput, RescoreList } from '@reasoning-gym-server/contract/rescore'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { RescoresFeature } from '../src/features/rescores/index.ts'
import type { App } from '../src/http/app.ts'
import { IdempotencyHeaders, IfMatchHeaders, ifMatchHeader } from '../src/http/request-headers.ts'

const RunParams = z.strictObject({ run: RunName })

const COUNTS = {
  groups: 1,
  rollouts: 2,
  rewards_changed: 1,
  mean_change: -0.5,
  groups_gaining_signal: 0,
  groups_losing_signal: 1,
  advantages_flipped: 0,
}

export function addRescoreRoutes(app: App, { rescores }: RescoresFeature): void {
  app.post(
    '/runs/:run/rescore',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'startRescore',
        tags: ['runs'],
        summary: 'Score the kept groups of a run again',
        description:
          'Starts a job that scores the groups that the server keeps (`keep_groups`) under other settings, and reports how rewards, signal and advantages would differ. It changes nothing in the run.',
        params: RunParams,
        headers: IdempotencyHeaders.extend(ifMatchHeader),
        body: RescoreInput,
        response: { 202: Rescore },
        problems: ['unknown_task'],
        examples: { bodies: { hardened: { settings: { scoring: 'hardened' } } } },
      },
    },
    async ({ params, body, headers, caller }, reply) => {
      const request = { caller, idempotencyKey: headers['idempotency-key'], condition: headers['if-match'] }
      return reply.status(202).send(await rescores.start(params.run, body, request))
    },
  )

  app.get(
    '/runs/:run/rescore',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'listRescores',
        tags: ['runs'],
        summary: 'List the rescores of a run',
        description: 'Returns the last 20 rescores of the run, newest first.',
        params: RunParams,
        headers: IfMatchHeaders,
        response: { 200: RescoreList },
      },
    },
    async ({ params, headers }) => ({ rescores: await rescores.list(params.run, headers['if-match']) }),
  )

  app.get(
    '/runs/:run/rescore/:id',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getRescore',
        tags: ['runs'],
        summary: 'Get a rescore',
        description: 'Returns the progress of a rescore and, once it is done, its result.',
        params: RunParams.extend({ id: z.string().min(1).max(64).describe('ID of the rescore.') }),
        headers: IfMatchHeaders,
        response: { 200: Rescore },
        problems: ['unknown_rescore'],
        examples: {
          path: { id: 'rescore-0123456789abcdef0123' },
          response: {
            id: 'rescore-0123456789abcdef0123',
            run: 'demo',
            status: 'done',
            created_at: '2026-11-26T07:30:00.000Z',
            settings: { scoring: 'hardened' },
            tasks: null,
            sample: null,
            progress: { total: 1, done: 1 },
            detail: null,
            result: {
              ...COUNTS,
              left_out: 0,
              tasks: { leg_counting: { ...COUNTS, difficulty: null } },
              examples: [
                {
                  group_id: 'group-1',
                  task: 'leg_counting',
                  rollout: 0,
                  before: { reward: 1, score: 1, advantage: 0.5, answer: '<answer>100</answer>', fault: null },
                  after: { reward: 0, score: 0, advantage: 0, answer: '<answer>100</answer>', fault: null },
                },
              ],
            },
          },
        },
      },
    },
    ({ params, headers }) => rescores.get(params.run, params.id, headers['if-match']),
  )
}
