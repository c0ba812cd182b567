/** A recipe made real: what to show the model. */
import { z } from 'zod'
import { ItemId } from './item-id.ts'
import { Difficulty, RecipeOutput } from './recipe.ts'

/** A chat message of a prompt. */
export const PromptMessage = z
  .strictObject({ role: z.enum(['system', 'user']), content: z.string() })
  .meta({ id: 'PromptMessage' })
export type PromptMessage = z.infer<typeof PromptMessage>

export const Item = z
  .strictObject({
    id: ItemId,
    task: z.string(),
    category: z.string(),
    difficulty: Difficulty.nullable().describe(
      'The difficulty asked for; null: the library’s defaults or a config of one’s own',
    ),
    recipe: RecipeOutput,
    question: z.string(),
    messages: z.array(PromptMessage).describe('The system prompt and the question'),
    again: z.literal(true).optional().describe('It was handed out before, and its group has not come in time'),
  })
  .meta({ id: 'Item' })
export type Item = z.infer<typeof Item>

/** A seed and index at which the library has no item, though it accepts the config. */
export const UnmakeableItem = z
  .strictObject({
    seed: z.int(),
    index: z.int(),
    detail: z.string().describe('What the library said'),
  })
  .meta({ id: 'UnmakeableItem' })
export type UnmakeableItem = z.infer<typeof UnmakeableItem>
