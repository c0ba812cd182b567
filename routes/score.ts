/** POST /score: completions in, verdicts out, nothing kept. */
import { z } from 'zod'
import type { Given } from '../src/items/judge.ts'
import { ItemId } from '../src/words/item-id.ts'
import { problems } from '../src/words/problem.ts'
import { type Recipe, RecipeInput } from '../src/words/recipe.ts'
import { Message } from '../src/words/rollout.ts'
import { Extraction, ScoringMode, Verdict } from '../src/words/verdict.ts'
import type { App, Services } from './context.ts'

export const SCORE_BODY_BYTES = 64 * 1024 * 1024
const MOST = 4096

const Which = { item_id: ItemId.optional(), recipe: RecipeInput.optional() }
const oneOf = (...names: string[]) =>
  [
    (given: object) => names.filter((name) => name in given).length === 1,
    { message: `give exactly one of ${names.join(', ')}` },
  ] as const

const Ask = z
  .strictObject({
    ...Which,
    completion: z.string().optional(),
    messages: z.array(Message).min(1).optional(),
    answer: z.string().optional(),
  })
  .refine(...oneOf('item_id', 'recipe'))
  .refine(...oneOf('completion', 'messages', 'answer'))
type Ask = z.infer<typeof Ask>

const Asks = z
  .strictObject({ ...Which, completions: z.array(z.string()).min(1).max(MOST) })
  .refine(...oneOf('item_id', 'recipe'))

const ScoreBody = z
  .strictObject({
    rollouts: z.array(Ask).min(1).max(MOST).optional(),
    groups: z.array(Asks).min(1).max(MOST).optional(),
    extraction: Extraction.default('strict'),
    dual_format: z.boolean().default(true),
    scoring: ScoringMode.default('upstream').describe('`hardened`: the library’s score with its holes closed'),
    detail: z.enum(['verdicts', 'rewards']).default('verdicts'),
  })
  .refine(...oneOf('rollouts', 'groups'))
  .refine((body) => (body.groups ?? []).reduce((sum, { completions }) => sum + completions.length, 0) <= MOST, {
    path: ['groups'],
    message: `at most ${MOST} completions a call`,
  })

export function score(app: App, { engine, items, judge, metrics }: Services): void {
  app.post(
    '/score',
    {
      bodyLimit: SCORE_BODY_BYTES,
      schema: {
        tags: ['scoring'],
        summary: 'The plain reward function: at most 4,096 completions a call, scored and forgotten',
        body: ScoreBody,
        response: {
          200: z.strictObject({ rewards: z.array(z.number().nullable()), verdicts: z.array(Verdict).optional() }),
          ...problems(
            'invalid_request',
            'invalid_json',
            'invalid_config',
            'invalid_item_id',
            'seed_reserved',
            'unknown_task',
            'engine_version_mismatch',
            'body_too_large',
            'engine_unavailable',
          ),
        },
      },
    },
    async ({ body }) => {
      engine.assertReady()
      const verdicts = await scoreAll(body, items, judge, metrics.meters)
      const rewards = verdicts.map(({ reward }) => reward)
      return body.detail === 'rewards' ? { rewards } : { rewards, verdicts }
    },
  )
}

type Body = z.infer<typeof ScoreBody>

/** All rollouts of one item are judged together; the answer is in the order of the request. */
async function scoreAll(
  body: Body,
  items: Services['items'],
  judge: Services['judge'],
  meters: Services['metrics']['meters'],
): Promise<Verdict[]> {
  const asked = body.rollouts
    ? body.rollouts.map((ask) => ({ which: ask, given: givenOf(ask) }))
    : (body.groups ?? []).flatMap((group) =>
        group.completions.map((completion) => ({ which: group, given: { kind: 'completion', completion } as const })),
      )
  const byItem = Map.groupBy(asked.keys(), (k) => keyOf(asked[k]?.which ?? {}))
  const verdicts: Verdict[] = []
  const judging = [...byItem.values()].map(async (places) => {
    const at = [...places]
    const recipe = await recipeOf(asked[at[0] ?? 0]?.which ?? {}, items)
    const some = await judge.verdicts(
      recipe,
      at.map((k) => asked[k]?.given ?? NOTHING),
      body,
    )
    meters.verdicts(recipe.task, some)
    at.forEach((k, n) => {
      const verdict = some[n]
      if (verdict) verdicts[k] = verdict
    })
  })
  await Promise.all(judging)
  return verdicts
}

interface Which {
  item_id?: string | undefined
  recipe?: RecipeInput | undefined
}

const NOTHING: Given = { kind: 'nothing', detail: 'nothing was given' }

function keyOf({ item_id, recipe }: Which): string {
  return item_id ?? JSON.stringify(recipe)
}

function recipeOf({ item_id, recipe }: Which, items: Services['items']): Promise<Recipe> {
  if (item_id !== undefined) return items.open(item_id)
  return items.check(recipe ?? RecipeInput.parse({})) // the schema lets nothing through without one of them
}

function givenOf({ completion, messages, answer }: Ask): Given {
  if (completion !== undefined) return { kind: 'completion', completion }
  return answer !== undefined ? { kind: 'answer', answer } : { kind: 'messages', messages: messages ?? [] }
}
