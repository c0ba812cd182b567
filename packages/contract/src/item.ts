/** An item, the prompt that a recipe makes, and the body of POST /items: the next items of a run, those of a step or of positions, or those of a recipe with one or more seeds. */
import { z } from 'zod'
import { RankSliceFields, Step, validateRankSlice } from './batch.ts'
import { Count, NullableText } from './common.ts'
import { ItemId } from './item-id.ts'
import { Difficulty, Recipe, RecipeInput } from './recipe.ts'
import { DEFAULT_RUN, RunName } from './rollout.ts'

export const PromptMessage = z
  .strictObject({
    role: z.enum(['system', 'user']).describe('Role of the author.'),
    content: z.string().describe('Text of the message.'),
  })
  .meta({ id: 'PromptMessage', description: 'A chat message of a prompt.' })
export type PromptMessage = z.infer<typeof PromptMessage>

export const Item = z
  .strictObject({
    id: ItemId,
    task: z.string().describe('Name of the task.'),
    category: z.string().describe('Category of the task.'),
    difficulty: Difficulty.nullable().describe(
      'Difficulty that was requested; null if the item uses the library’s defaults or your own config.',
    ),
    recipe: Recipe.describe('Recipe of the item.'),
    question: z.string().describe('Question without instructions.'),
    clarification: NullableText.describe(
      'Sentence that settles the reading of the question; null if it has one. With `clarify`, `messages` contain it.',
    ),
    messages: z.array(PromptMessage).describe('Prompt for the model: instructions and question as chat messages.'),
    propensity: z
      .number()
      .gt(0)
      .max(1)
      .optional()
      .describe(
        'Probability with which the run drew the task and the rung of the item, to six digits. Only on items of a run.',
      ),
    again: z
      .literal(true)
      .optional()
      .describe('Set if the item was handed out before and its group did not arrive within `item_lease_s`.'),
  })
  .meta({ id: 'Item', description: 'A puzzle: a prompt for a model. The ID encodes the recipe of the item.' })
export type Item = z.infer<typeof Item>

export const UnmakeableItem = z
  .strictObject({
    seed: z.int().describe('Seed of the recipe.'),
    index: z.int().describe('Index of the recipe.'),
    detail: z.string().describe('Error message of the library.'),
  })
  .meta({
    id: 'UnmakeableItem',
    description: 'A seed and index at which the library cannot make an item, although it accepts the config.',
  })
export type UnmakeableItem = z.infer<typeof UnmakeableItem>

const MAX_ITEMS = 1024
const AnyItemCount = z.int().min(1).max(MAX_ITEMS)
const ItemCount = AnyItemCount.default(1)

const NextItemsRequest = z
  .strictObject({
    run: RunName.default(DEFAULT_RUN).describe(
      'Run to take the next items of. Only the run `default` is created if it does not exist.',
    ),
    count: ItemCount.describe('Number of items.'),
  })
  .meta({
    id: 'NextItemsRequest',
    description: 'Takes the next items of a run. Each is handed out once, unless its group does not arrive in time.',
  })

const StepItemsRequest = z
  .strictObject({
    run: RunName.default(DEFAULT_RUN).describe(
      'Run to take the items of. Only the run `default` is created if it does not exist.',
    ),
    step: Step,
    count: AnyItemCount.optional().describe(
      'Number of items of the whole step. The first call for a step sets it, by default to 1. Later calls omit it or repeat it; another number is rejected with 409 `step_conflict`.',
    ),
    ...RankSliceFields,
  })
  .superRefine(validateRankSlice)
  .meta({
    id: 'StepItemsRequest',
    description:
      'Takes the items of a training step. The first call for a step takes the next items of the sequence; later calls return the same items.',
  })

const PositionItemsRequest = z
  .strictObject({
    run: RunName.default(DEFAULT_RUN).describe(
      'Run to take the items of. Only the run `default` is created if it does not exist.',
    ),
    position: z
      .union([Count, z.literal('next')])
      .describe(
        'First position in the run’s item sequence, counted from 0. It must be below 134,217,728 and at most 1,048,576 beyond the positions in use. `next`: the first one after all positions in use. Each call takes new ones; send an `Idempotency-Key` if you retry.',
      ),
    count: ItemCount.describe('Number of items, from positions `position`, `position` + 1, ….'),
    ...RankSliceFields,
  })
  .superRefine(validateRankSlice)
  .meta({
    id: 'PositionItemsRequest',
    description:
      'Takes the items at given positions of the run’s item sequence. A position keeps its item as long as the run exists; a new item is made at the current difficulty. If the position’s task cannot make an item, another task of the run does; if none can, the position always fails with 422 `make_failed`.',
  })

const RecipeItemsRequest = z
  .strictObject({
    ...RecipeInput.shape,
    count: ItemCount.describe('Number of items, with indexes `index`, `index` + 1, ….'),
  })
  .meta({ id: 'RecipeItemsRequest', description: 'Makes items from a recipe, without a run.' })

const { seed: Seed, ...AnySeed } = RecipeInput.shape

const SeedListItemsRequest = z
  .strictObject({
    ...AnySeed,
    seeds: z
      .array(Seed.removeDefault())
      .min(1)
      .max(1024)
      .describe('Seeds, in place of `seed` and `count`: one item for each.'),
  })
  .meta({ id: 'SeedListItemsRequest', description: 'Makes one item for each seed, without a run.' })

/** An exclusive union, so that the error for an extra field names only the form that was meant. */
export const ItemsRequest = z
  .xor([NextItemsRequest, StepItemsRequest, PositionItemsRequest, RecipeItemsRequest, SeedListItemsRequest])
  .meta({
    id: 'ItemsRequest',
    description:
      'Items to create: the next ones of a run, those of a step or of positions of a run, or those of a recipe.',
  })
export type ItemsRequest = z.infer<typeof ItemsRequest>
