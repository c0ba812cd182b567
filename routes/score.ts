/** POST /score: completions in, verdicts out, nothing kept. */
import { z } from 'zod'
import type { Given } from '../src/items/judge.ts'
import { withPass } from '../src/plugins/validation.ts'
import { ID_MAX_CHARS, ItemId } from '../src/words/item-id.ts'
import { problems } from '../src/words/problem.ts'
import { plainRecipe, type Recipe, RecipeInput } from '../src/words/recipe.ts'
import { Message } from '../src/words/rollout.ts'
import { Extraction, ScoringMode, Verdict } from '../src/words/verdict.ts'
import type { App, Services } from './context.ts'

const SCORE_BODY_BYTES = 64 * 1024 * 1024
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

const Rules = z.strictObject({
  extraction: Extraction.default('strict'),
  dual_format: z.boolean().default(true),
  scoring: ScoringMode.default('upstream').describe('`hardened`: the library’s score with its holes closed'),
  detail: z.enum(['verdicts', 'rewards']).default('verdicts'),
})

const ScoreSchema = z
  .strictObject({
    rollouts: z.array(Ask).min(1).max(MOST).optional(),
    groups: z.array(Asks).min(1).max(MOST).optional(),
    ...Rules.shape,
  })
  .refine(...oneOf('rollouts', 'groups'))
  .refine((body) => (body.groups ?? []).reduce((sum, { completions }) => sum + completions.length, 0) <= MOST, {
    path: ['groups'],
    message: `at most ${MOST} completions a call`,
  })

type Body = z.infer<typeof ScoreSchema>

/** What rules may be, to be looked up: of a body that names none, and of one that names some. */
const DEFAULT_RULES = Rules.parse({})
const RULE_VALUES = new Map<string, readonly unknown[]>([
  ['extraction', Extraction.options],
  ['dual_format', [true, false]],
  ['scoring', ScoringMode.options],
  ['detail', Rules.shape.detail.unwrap().options],
])

/** Completions of plain recipes or of ids, which is what nearly all bodies hold. */
function plainBody(value: unknown): Body | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { rollouts, ...rules } = value as { rollouts?: unknown }
  if (!Array.isArray(rollouts) || rollouts.length === 0 || rollouts.length > MOST) return undefined
  const asks: Ask[] = []
  for (const rollout of rollouts as unknown[]) {
    const ask = plainAsk(rollout, asks.at(-1)?.recipe)
    if (!ask) return undefined
    asks.push(ask)
  }
  const known = Object.entries(rules).every(([name, value]) => RULE_VALUES.get(name)?.includes(value))
  return known ? { rollouts: asks, ...DEFAULT_RULES, ...rules } : undefined
}

function plainAsk(rollout: unknown, before: RecipeInput | undefined): Ask | undefined {
  if (typeof rollout !== 'object' || rollout === null) return undefined
  for (const name in rollout) if (name !== 'recipe' && name !== 'item_id' && name !== 'completion') return undefined
  const { recipe: given, item_id, completion } = rollout as Record<string, unknown> // checked below
  if (typeof completion !== 'string') return undefined
  if (given === undefined) {
    return !('recipe' in rollout) && typeof item_id === 'string' && item_id !== '' && item_id.length <= ID_MAX_CHARS
      ? { item_id, completion }
      : undefined
  }
  const recipe = 'item_id' in rollout ? undefined : plainRecipe(given)
  if (!recipe) return undefined
  const same = before?.task === recipe.task && before.seed === recipe.seed && before.index === recipe.index
  return { recipe: same ? before : recipe, completion } // one object: grouping need not spell it
}

export const ScoreBody = withPass(ScoreSchema, plainBody)

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

/** All rollouts of one item are judged together; the answer is in the order of the request. */
async function scoreAll(
  body: Body,
  items: Services['items'],
  judge: Services['judge'],
  meters: Services['metrics']['meters'],
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  const judging = sharesOf(body).map(async ({ which, given, places }) => {
    const recipe = await recipeOf(which, items)
    const some = await judge.verdicts(recipe, given, body)
    meters.verdicts(recipe.task, some)
    some.forEach((verdict, k) => {
      verdicts[places[k] ?? 0] = verdict // as many places as were given
    })
  })
  await Promise.all(judging)
  return verdicts
}

interface Which {
  item_id?: string | undefined
  recipe?: RecipeInput | undefined
}

/** What was given for one item, and where it stands in the request. */
interface Share {
  which: Which
  given: Given[]
  places: number[]
}

function sharesOf({ rollouts = [], groups = [] }: Body): Share[] {
  const shares: Share[] = []
  let byItem: Map<string, Share> | undefined // most bodies are of one item, which needs none
  let share: Share | undefined
  let place = 0
  const shareOf = (which: Which): Share => {
    const made = { which, given: [], places: [] }
    if (shares.length > 0) {
      byItem ??= new Map(shares.map((one) => [keyOf(one.which), one]))
      const known = byItem.get(keyOf(which))
      if (known) return known
      byItem.set(keyOf(which), made)
    }
    shares.push(made)
    return made
  }
  const add = (which: Which, given: Given) => {
    if (share?.which.recipe !== which.recipe || share?.which.item_id !== which.item_id) share = shareOf(which)
    share?.given.push(given)
    share?.places.push(place++)
  }
  for (const ask of rollouts) add(ask, givenOf(ask))
  for (const group of groups) for (const completion of group.completions) add(group, { kind: 'completion', completion })
  return shares
}

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
