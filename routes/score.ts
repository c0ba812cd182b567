/** POST /score: completions in, verdicts out, nothing kept. */
import { z } from 'zod'
import { ItemId, MAX_ITEM_ID_CHARS } from '../src/contract/item-id.ts'
import { parsePlainRecipe, type Recipe, RecipeInput } from '../src/contract/recipe.ts'
import { Message } from '../src/contract/rollout.ts'
import { Extraction, ScoringMode, Verdict } from '../src/contract/verdict.ts'
import type { Submission } from '../src/grading/grader.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { uncheckedSerializer } from '../src/http/response-serializer.ts'
import { withFastParser } from '../src/http/validation.ts'
import type { Services } from './context.ts'

const SCORE_BODY_BYTES = 64 * 1024 * 1024
const MAX_COMPLETIONS = 4096

const ItemReference = { item_id: ItemId.optional(), recipe: RecipeInput.optional() }
const exactlyOneOf = (...names: string[]) =>
  [
    (given: object) => names.filter((name) => name in given).length === 1,
    { message: `give exactly one of ${names.join(', ')}` },
  ] as const

const ScoreRolloutInput = z
  .strictObject({
    ...ItemReference,
    completion: z.string().optional(),
    messages: z.array(Message).min(1).optional(),
    answer: z.string().optional(),
  })
  .refine(...exactlyOneOf('item_id', 'recipe'))
  .refine(...exactlyOneOf('completion', 'messages', 'answer'))
type ScoreRolloutInput = z.infer<typeof ScoreRolloutInput>

const ScoreGroupInput = z
  .strictObject({ ...ItemReference, completions: z.array(z.string()).min(1).max(MAX_COMPLETIONS) })
  .refine(...exactlyOneOf('item_id', 'recipe'))

const ScoreOptions = z.strictObject({
  extraction: Extraction.default('strict'),
  dual_format: z.boolean().default(true),
  scoring: ScoringMode.default('upstream').describe('`hardened`: the library’s score with its holes closed'),
  detail: z.enum(['verdicts', 'rewards']).default('verdicts'),
})

const ScoreBodySchema = z
  .strictObject({
    rollouts: z.array(ScoreRolloutInput).min(1).max(MAX_COMPLETIONS).optional(),
    groups: z.array(ScoreGroupInput).min(1).max(MAX_COMPLETIONS).optional(),
    ...ScoreOptions.shape,
  })
  .refine(...exactlyOneOf('rollouts', 'groups'))
  .refine(
    (body) => (body.groups ?? []).reduce((sum, { completions }) => sum + completions.length, 0) <= MAX_COMPLETIONS,
    {
      path: ['groups'],
      message: `at most ${MAX_COMPLETIONS} completions a call`,
    },
  )

type ScoreRequest = z.infer<typeof ScoreBodySchema>

/** What rules may be, to be looked up: of a body that names none, and of one that names some. */
const DEFAULT_OPTIONS = ScoreOptions.parse({})
const OPTION_VALUES = new Map<string, readonly unknown[]>([
  ['extraction', Extraction.options],
  ['dual_format', [true, false]],
  ['scoring', ScoringMode.options],
  ['detail', ScoreOptions.shape.detail.unwrap().options],
])

/** Completions of plain recipes or of ids, which is what nearly all bodies hold. */
function parsePlainBody(value: unknown): ScoreRequest | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { rollouts, ...rules } = value as { rollouts?: unknown }
  if (!Array.isArray(rollouts) || rollouts.length === 0 || rollouts.length > MAX_COMPLETIONS) return undefined
  const asks: ScoreRolloutInput[] = []
  for (const rollout of rollouts as unknown[]) {
    const ask = parsePlainRollout(rollout, asks.at(-1)?.recipe)
    if (!ask) return undefined
    asks.push(ask)
  }
  const known = Object.entries(rules).every(([name, value]) => OPTION_VALUES.get(name)?.includes(value))
  return known ? { rollouts: asks, ...DEFAULT_OPTIONS, ...rules } : undefined
}

function parsePlainRollout(rollout: unknown, before: RecipeInput | undefined): ScoreRolloutInput | undefined {
  if (typeof rollout !== 'object' || rollout === null) return undefined
  for (const name in rollout) if (name !== 'recipe' && name !== 'item_id' && name !== 'completion') return undefined
  const { recipe: given, item_id, completion } = rollout as Record<string, unknown> // checked below
  if (typeof completion !== 'string') return undefined
  if (given === undefined) {
    return !('recipe' in rollout) &&
      typeof item_id === 'string' &&
      item_id !== '' &&
      item_id.length <= MAX_ITEM_ID_CHARS
      ? { item_id, completion }
      : undefined
  }
  const recipe = 'item_id' in rollout ? undefined : parsePlainRecipe(given)
  if (!recipe) return undefined
  const same = before?.task === recipe.task && before.seed === recipe.seed && before.index === recipe.index
  return { recipe: same ? before : recipe, completion } // one object: grouping need not spell it
}

export const ScoreBody = withFastParser(ScoreBodySchema, parsePlainBody)

export const ScoreResponse = z.strictObject({
  rewards: z.array(z.number().nullable()),
  verdicts: z.array(Verdict).optional(),
})

export function addScoreRoutes(app: App, { engine, items, grader: judge, metrics }: Services): void {
  app.post(
    '/score',
    {
      serializerCompiler: uncheckedSerializer,
      bodyLimit: SCORE_BODY_BYTES,
      schema: {
        operationId: 'scoreCompletions',
        tags: ['scoring'],
        summary: 'The plain reward function: at most 4,096 completions a call, scored and forgotten',
        body: ScoreBody,
        response: {
          200: ScoreResponse,
          ...problemResponses(
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
      const verdicts = await gradeAll(body, items, judge, metrics.recorder)
      const rewards = verdicts.map(({ reward }) => reward)
      return body.detail === 'rewards' ? { rewards } : { rewards, verdicts }
    },
  )
}

/** All rollouts of one item are judged together; the answer is in the order of the request. */
async function gradeAll(
  body: ScoreRequest,
  items: Services['items'],
  judge: Services['grader'],
  meters: Services['metrics']['recorder'],
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  const judging = groupByItem(body).map(async ({ item: which, submissions: given, positions: places }) => {
    const recipe = await requireRecipe(which, items)
    const some = await judge.grade(recipe, given, body)
    meters.recordVerdicts(recipe.task, some)
    some.forEach((verdict, k) => {
      verdicts[places[k] ?? 0] = verdict // as many places as were given
    })
  })
  await Promise.all(judging)
  return verdicts
}

interface ItemReference {
  item_id?: string | undefined
  recipe?: RecipeInput | undefined
}

/** What was given for one item, and where it stands in the request. */
interface ItemSubmissions {
  item: ItemReference
  submissions: Submission[]
  positions: number[]
}

function groupByItem({ rollouts = [], groups = [] }: ScoreRequest): ItemSubmissions[] {
  const shares: ItemSubmissions[] = []
  let byItem: Map<string, ItemSubmissions> | undefined // most bodies are of one item, which needs none
  let share: ItemSubmissions | undefined
  let place = 0
  const shareOf = (which: ItemReference): ItemSubmissions => {
    const made: ItemSubmissions = { item: which, submissions: [], positions: [] }
    if (shares.length > 0) {
      byItem ??= new Map(shares.map((one) => [getItemKey(one.item), one]))
      const known = byItem.get(getItemKey(which))
      if (known) return known
      byItem.set(getItemKey(which), made)
    }
    shares.push(made)
    return made
  }
  const add = (which: ItemReference, given: Submission) => {
    if (share?.item.recipe !== which.recipe || share?.item.item_id !== which.item_id) share = shareOf(which)
    share?.submissions.push(given)
    share?.positions.push(place++)
  }
  for (const ask of rollouts) add(ask, toSubmission(ask))
  for (const group of groups) for (const completion of group.completions) add(group, { kind: 'completion', completion })
  return shares
}

function getItemKey({ item_id, recipe }: ItemReference): string {
  return item_id ?? JSON.stringify(recipe)
}

function requireRecipe({ item_id, recipe }: ItemReference, items: Services['items']): Promise<Recipe> {
  if (item_id !== undefined) return items.resolveItemId(item_id)
  return items.resolveRecipe(recipe ?? RecipeInput.parse({})) // the schema lets nothing through without one of them
}

function toSubmission({ completion, messages, answer }: ScoreRolloutInput): Submission {
  if (completion !== undefined) return { kind: 'completion', completion }
  return answer !== undefined ? { kind: 'answer', answer } : { kind: 'messages', messages: messages ?? [] }
}
