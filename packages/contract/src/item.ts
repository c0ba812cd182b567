/** An item: the prompt that a recipe makes. */
import { z } from 'zod'
import { ItemId } from './item-id.ts'
import { Difficulty, RecipeOutput } from './recipe.ts'

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
    recipe: RecipeOutput.describe('Recipe of the item.'),
    question: z.string().describe('Question without instructions.'),
    messages: z.array(PromptMessage).describe('Prompt for the model: instructions and question as chat messages.'),
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
