/** What POST /items takes: the next items of a run, those of one of its steps, or those of a recipe, with one seed or several. */
import { z } from 'zod'
import { RankSliceFields, Step, validateRankSlice } from './batch.ts'
import { RecipeInput } from './recipe.ts'
import { RunName } from './rollout.ts'

const ItemCount = z.int().min(1).max(1024).default(1)

const NextItemsRequest = z
  .strictObject({
    run: RunName.default('default').describe('Whose next items'),
    count: ItemCount,
  })
  .meta({ id: 'NextItemsRequest' })

const StepItemsRequest = z
  .strictObject({
    run: RunName.default('default').describe('Whose items'),
    step: Step.describe('The trainer’s own counter'),
    count: ItemCount.describe('Items of the whole step; heard from the first call for it'),
    ...RankSliceFields,
  })
  .superRefine(validateRankSlice)
  .meta({ id: 'StepItemsRequest' })

const RecipeItemsRequest = z
  .strictObject({
    ...RecipeInput.shape,
    count: ItemCount.describe('Items index, index + 1, …'),
  })
  .meta({ id: 'RecipeItemsRequest' })

const { seed: Seed, ...AnySeed } = RecipeInput.shape

const SeedListItemsRequest = z
  .strictObject({
    ...AnySeed,
    seeds: z.array(Seed.removeDefault()).min(1).max(1024).describe('In place of seed and count: one item of each'),
  })
  .meta({ id: 'SeedListItemsRequest' })

/** Exclusive: where only a field too many stands against one form, a union says no more of the others. */
export const ItemsRequest = z
  .xor([NextItemsRequest, StepItemsRequest, RecipeItemsRequest, SeedListItemsRequest])
  .meta({ id: 'ItemsRequest' })
export type ItemsRequest = z.infer<typeof ItemsRequest>
