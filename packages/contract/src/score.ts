/** `POST /score`: completions of items, and the rules for grading them. */
import { z } from 'zod'
import { NullableNumber, Share } from './common.ts'
import { ItemId, MAX_ITEM_ID_CHARS } from './item-id.ts'
import { parsePlainRecipe, RecipeInput } from './recipe.ts'
import { Message, Turns } from './rollout.ts'
import { Extraction, FeedbackLevel, OpensThinking, ScoringMode, Stop, Verdict } from './verdict.ts'

const MAX_COMPLETIONS = 4096

const ItemReferenceFields = {
  item_id: ItemId.optional(),
  recipe: RecipeInput.optional().describe('Recipe of the item, in place of `item_id`.'),
}
export const exactlyOneOf = (...names: string[]) =>
  [
    (given: Record<string, unknown>) => names.filter((name) => given[name] !== undefined).length === 1,
    { message: `give exactly one of ${names.join(', ')}` },
  ] as const

/** A request gives one of them. */
export const CompletionFields = {
  completion: z.string().optional().describe('Text that the model generated.'),
  messages: z.array(Message).min(1).optional().describe('Completion as chat messages.'),
  answer: z.string().optional().describe('Answer alone, without tags or reasoning.'),
  turns: Turns.optional(),
}

const ScoreRolloutInput = z
  .strictObject({
    ...ItemReferenceFields,
    ...CompletionFields,
  })
  .refine(...exactlyOneOf('item_id', 'recipe'))
  .refine(...exactlyOneOf(...Object.keys(CompletionFields)))
  .meta({
    id: 'ScoreRolloutInput',
    description:
      'One completion of one item. Give exactly one of `item_id` and `recipe`, and exactly one of `completion`, `messages`, `answer` and `turns`.',
  })
export type ScoreRolloutInput = z.infer<typeof ScoreRolloutInput>

const ScoreGroupInput = z
  .strictObject({
    ...ItemReferenceFields,
    completions: z.array(z.string()).min(1).max(MAX_COMPLETIONS).describe('Texts that the model generated.'),
  })
  .refine(...exactlyOneOf('item_id', 'recipe'))
  .meta({
    id: 'ScoreGroupInput',
    description: 'Several completions of one item. Give exactly one of `item_id` and `recipe`.',
  })

const ScoreOptions = z
  .strictObject({
    extraction: Extraction.default('strict'),
    stop: Stop.default(null),
    opens_thinking: OpensThinking.default(false),
    dual_format: z
      .boolean()
      .default(true)
      .describe('If true, the answer is scored both bare and wrapped in answer tags, and the higher score counts.'),
    scoring: ScoringMode.default('upstream'),
    feedback: FeedbackLevel.default('none'),
    try_discount: Share.default(1).describe(
      'Factor on the reward for each turn before the one that decides, for rollouts with `turns`.',
    ),
    detail: z
      .enum(['verdicts', 'rewards'])
      .default('verdicts')
      .describe('`verdicts` returns rewards and verdicts; `rewards` returns the rewards alone.'),
  })
  .meta({ id: 'ScoreOptions', description: 'How completions are graded, and what is returned.' })

export const ScoreRequest = z
  .strictObject({
    rollouts: z
      .array(ScoreRolloutInput)
      .min(1)
      .max(MAX_COMPLETIONS)
      .optional()
      .describe('Completions, one per entry. Give either this or `groups`.'),
    groups: z
      .array(ScoreGroupInput)
      .min(1)
      .max(MAX_COMPLETIONS)
      .optional()
      .describe('Completions, several per item. At most 4,096 in all.'),
    ...ScoreOptions.shape,
  })
  .refine(...exactlyOneOf('rollouts', 'groups'))
  .refine(
    (body) => (body.groups ?? []).reduce((sum, { completions }) => sum + completions.length, 0) <= MAX_COMPLETIONS,
    {
      path: ['groups'],
      message: `must have at most ${MAX_COMPLETIONS} completions in all`,
    },
  )
  .meta({ id: 'ScoreRequest', description: 'Completions to score. Give either `rollouts` or `groups`.' })

export type ScoreRequest = z.infer<typeof ScoreRequest>

/** The default options, and the valid values of each option. */
const DEFAULT_OPTIONS = ScoreOptions.parse({})
const OPTION_VALUES = new Map<string, readonly unknown[]>([
  ['extraction', Extraction.options],
  ['stop', [null, '</answer>']],
  ['opens_thinking', [true, false]],
  ['dual_format', [true, false]],
  ['scoring', ScoringMode.options],
  ['feedback', FeedbackLevel.options],
  ['detail', ScoreOptions.shape.detail.unwrap().options],
])

/** Parses bodies with completions of plain recipes or item IDs, as nearly all are; undefined for any other body. */
export function parsePlainScoreRequest(value: unknown): ScoreRequest | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const name in value) if (name !== 'rollouts' && !OPTION_VALUES.has(name)) return undefined // before they are copied
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
  const same =
    before?.task === recipe.task && Object.is(before.seed, recipe.seed) && Object.is(before.index, recipe.index) // -0 is kept
  return { recipe: same ? before : recipe, completion } // the same object, so that grouping need not serialize it
}

export const ScoreResponse = z
  .strictObject({
    rewards: z
      .array(NullableNumber)
      .describe('Reward of each completion, in the order of the request; null if unscored.'),
    verdicts: z
      .array(Verdict)
      .optional()
      .describe('Verdict of each completion, in the order of the request. Absent with `"detail": "rewards"`.'),
  })
  .meta({ id: 'ScoreResponse', description: 'Rewards and verdicts, in the order of the request.' })
export type ScoreResponse = z.infer<typeof ScoreResponse>
