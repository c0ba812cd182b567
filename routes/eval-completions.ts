/** /eval/{id}/items, completions and finish: completions of an eval that the caller supplies. */

import { REMAKE_CODES } from '@reasoning-gym-server/contract/errors'
import { Eval, EvalId } from '@reasoning-gym-server/contract/eval'
import { CompletionInput, SampleId } from '@reasoning-gym-server/contract/eval-sample'
import { PromptMessage } from '@reasoning-gym-server/contract/item'
import { ItemId } from '@reasoning-gym-server/contract/item-id'
import { z } from 'zod'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import type { App } from '../src/http/app.ts'
import { LARGE_BODY_LIMIT_BYTES } from '../src/http/bodies/request-bodies.ts'

const EvalParams = z.strictObject({ id: EvalId })

const MAX_COMPLETIONS = 4096
const MAX_ITEMS = 200_000

const EvalItemsQuery = z
  .strictObject({
    rank: z.coerce.number().int().min(0).optional().describe('Rank of the caller, counted from 0. Requires `ranks`.'),
    ranks: z.coerce
      .number()
      .int()
      .min(1)
      .max(65_536)
      .optional()
      .describe('Number of ranks that share the samples. Requires `rank`.'),
    from: z.coerce
      .number()
      .int()
      .min(0)
      .default(0)
      .describe('Position of the first sample to return, within the share.'),
    count: z.coerce.number().int().min(1).max(MAX_ITEMS).default(MAX_ITEMS).describe('Maximum number of samples.'),
  })
  .refine(({ rank, ranks }) => (rank === undefined) === (ranks === undefined), {
    path: ['rank'],
    message: 'missing: rank and ranks must be given together',
  })
  .refine(({ rank = 0, ranks = 1 }) => rank < ranks, { path: ['rank'], message: 'must be below ranks' })

export function addEvalCompletionRoutes(app: App, { evals }: EvalsFeature): void {
  app.get(
    '/eval/:id/items',
    {
      config: { access: 'evaluators' },
      schema: {
        operationId: 'listEvalItems',
        tags: ['evals'],
        summary: 'List the prompts of an eval',
        description:
          'Returns the samples that need completions from you: all of them, or one rank’s share. A page lacks samples whose items cannot be made, so a short one is not the last; `progress.total` of the eval counts all.',
        params: EvalParams,
        querystring: EvalItemsQuery,
        response: {
          200: z
            .strictObject({
              items: z
                .array(
                  z
                    .strictObject({
                      sample_id: SampleId.describe('ID of the sample.'),
                      item_id: ItemId,
                      messages: z.array(PromptMessage).describe('Prompt for the model.'),
                    })
                    .meta({ id: 'EvalItem', description: 'A sample of an eval with its prompt.' }),
                )
                .describe('Samples that need a completion.'),
            })
            .meta({ id: 'EvalItemList', description: 'Prompts of the samples.' }),
        },
        problems: ['unknown_eval', ...REMAKE_CODES],
      },
    },
    async ({ params, query: { rank = 0, ranks = 1, from, count }, caller }) => ({
      items: await evals.listSamplePrompts({ ...params, caller }, { rank, ranks, from, count }),
    }),
  )

  app.post(
    '/eval/:id/completions',
    {
      bodyLimit: LARGE_BODY_LIMIT_BYTES,
      config: { access: 'evaluators' },
      schema: {
        operationId: 'submitEvalCompletions',
        tags: ['evals'],
        summary: 'Submit completions for an eval',
        description: 'Only the first completion of each sample counts, so repeating the call is safe.',
        params: EvalParams,
        body: z
          .strictObject({
            completions: z.array(CompletionInput).min(1).max(MAX_COMPLETIONS).describe('Completions to submit.'),
          })
          .meta({ id: 'EvalCompletions', description: 'Completions of samples of an eval.' }),
        response: {
          200: z
            .strictObject({
              new: z.int().describe('Number of completions that were not known before.'),
              ...Eval.pick({ id: true, status: true, progress: true }).shape,
            })
            .meta({
              id: 'EvalCompletionsReceipt',
              description: 'Number of new completions, and progress of the eval.',
            }),
        },
        problems: ['unknown_eval', 'make_failed', ...REMAKE_CODES],
      },
    },
    ({ params, body, caller }) => evals.submitCompletions({ ...params, caller }, body.completions),
  )

  app.post(
    '/eval/:id/finish',
    {
      config: { access: 'evaluators' },
      schema: {
        operationId: 'finishEval',
        tags: ['evals'],
        summary: 'Finish an eval',
        description:
          'Ends an eval whose completions you post. Samples without a completion count as missing, never as wrong.',
        params: EvalParams,
        body: z.strictObject({}).meta({ id: 'EmptyRequest', description: 'An object without fields.' }).optional(),
        response: { 200: Eval },
        problems: ['unknown_eval'],
      },
    },
    ({ params, caller }) => evals.finish({ ...params, caller }),
  )
}
