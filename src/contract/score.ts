/** `POST /score`: completions of items, and the rules to grade them by. */
import { z } from 'zod'
import { ItemId, MAX_ITEM_ID_CHARS } from './item-id.ts'
import { parsePlainRecipe, RecipeInput } from './recipe.ts'
import { Message } from './rollout.ts'
import { Extraction, ScoringMode, Verdict } from './verdict.ts'

const MAX_COMPLETIONS = 4096

const ItemReferenceFields = { item_id: ItemId.optional(), recipe: RecipeInput.optional() }
const exactlyOneOf = (...names: string[]) =>
  [
    (given: object) => names.filter((name) => name in given).length === 1,
    { message: `give exactly one of ${names.join(', ')}` },
  ] as const

const ScoreRolloutInput = z
  .strictObject({
    ...ItemReferenceFields,
    completion: z.string().optional(),
    messages: z.array(Message).min(1).optional(),
    answer: z.string().optional(),
  })
  .refine(...exactlyOneOf('item_id', 'recipe'))
  .refine(...exactlyOneOf('completion', 'messages', 'answer'))
  .meta({ id: 'ScoreRolloutInput' })
export type ScoreRolloutInput = z.infer<typeof ScoreRolloutInput>

const ScoreGroupInput = z
  .strictObject({ ...ItemReferenceFields, completions: z.array(z.string()).min(1).max(MAX_COMPLETIONS) })
  .refine(...exactlyOneOf('item_id', 'recipe'))
  .meta({ id: 'ScoreGroupInput' })

const ScoreOptions = z
  .strictObject({
    extraction: Extraction.default('strict'),
    dual_format: z.boolean().default(true),
    scoring: ScoringMode.default('upstream').describe('`hardened`: the library’s score with its holes closed'),
    detail: z.enum(['verdicts', 'rewards']).default('verdicts'),
  })
  .meta({ id: 'ScoreOptions' })

export const ScoreRequest = z
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
  .meta({ id: 'ScoreRequest' })

export type ScoreRequest = z.infer<typeof ScoreRequest>

/** The options of a body that names none, and the values that each option may have. */
const DEFAULT_OPTIONS = ScoreOptions.parse({})
const OPTION_VALUES = new Map<string, readonly unknown[]>([
  ['extraction', Extraction.options],
  ['dual_format', [true, false]],
  ['scoring', ScoringMode.options],
  ['detail', ScoreOptions.shape.detail.unwrap().options],
])

/** Reads completions of plain recipes or of item IDs, as nearly all bodies hold; undefined for any other body. */
export function parsePlainScoreRequest(value: unknown): ScoreRequest | undefined {
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
  return { recipe: same ? before : recipe, completion } // one object: grouping need not serialize it
}

export const ScoreResponse = z
  .strictObject({
    rewards: z.array(z.number().nullable()),
    verdicts: z.array(Verdict).optional(),
  })
  .meta({ id: 'ScoreResponse' })
export type ScoreResponse = z.infer<typeof ScoreResponse>
