/** What POST /items takes: the next items of a run, those of a step or of positions, or those of a recipe, with one seed or several. */
import { z } from 'zod'
import { RankSliceFields, Step, validateRankSlice } from './batch.ts'
import { RecipeInput } from './recipe.ts'
import { RunName } from './rollout.ts'

const MAX_ITEMS = 1024
const AnyItemCount = z.int().min(1).max(MAX_ITEMS)
const ItemCount = AnyItemCount.default(1)

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
    count: AnyItemCount.optional().describe(
      'Items of the whole step. Its first call decides their number, 1 without `count`; later calls leave it out, or name the same number: another is 409 `step_conflict`',
    ),
    ...RankSliceFields,
  })
  .superRefine(validateRankSlice)
  .meta({
    id: 'StepItemsRequest',
    description:
      'The items of a training step: the next ones of the sequence for the first call, the same ones for every later call, for as long as the run exists',
  })

const PositionItemsRequest = z
  .strictObject({
    run: RunName.default('default').describe('Whose items'),
    position: z
      .int()
      .min(0)
      .describe(
        'The first position, counted from 0. At most 1,048,576 beyond the positions that are in use, and below 134,217,728; else 400 `invalid_request` names the limit',
      ),
    count: ItemCount.describe('Items of positions position, position + 1, …'),
    ...RankSliceFields,
  })
  .superRefine(validateRankSlice)
  .meta({
    id: 'PositionItemsRequest',
    description:
      'The items of positions of the run’s sequence. A position has one item: the one that the queue, a step or an earlier call gave out, or one that is made now, at the current difficulty. It stays the same for as long as the run exists, and the queue does not hand it out again. A position whose task has no item for it takes another task of the run; if none has one, it is 422 `make_failed` for ever',
  })

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
  .xor([NextItemsRequest, StepItemsRequest, PositionItemsRequest, RecipeItemsRequest, SeedListItemsRequest])
  .meta({ id: 'ItemsRequest' })
export type ItemsRequest = z.infer<typeof ItemsRequest>
