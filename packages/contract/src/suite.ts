/** Suites of evals: frozen lists of recipes, and suites that a request describes. */
import { z } from 'zod'
import { Count } from './common.ts'
import { NOT_FOUND_CODES } from './errors.ts'
import { ItemId } from './item-id.ts'
import { Config, Difficulty, Recipe, TaskName } from './recipe.ts'

const TaskOrCategoryName = z
  .union([TaskName, z.string().regex(/^category:[a-z]+$/)])
  .meta({ id: 'TaskOrCategoryName', description: 'Name of a task, or `category:NAME` for all tasks of a category.' })

export const CustomSuite = z
  .strictObject({
    tasks: z
      .array(TaskOrCategoryName)
      .min(1)
      .max(512)
      .optional()
      .describe('Task names and `category:NAME`. Without `tasks` and `categories`, the suite has all tasks.'),
    categories: z
      .array(z.string().max(64).describe('Name of a category.'))
      .min(1)
      .max(64)
      .optional()
      .describe('Categories whose tasks the suite has.'),
    n: z.int().min(1).max(1000).default(5).describe('Number of items per task.'),
    difficulty: Difficulty.nullish().describe('Difficulty of all items. null or absent: the library’s defaults.'),
    config: Config.optional().describe('Config for every task, in place of `difficulty`.'),
    seed: Count.max(2 ** 29)
      .default(0)
      .describe('Offset into the seeds reserved for evals, which begin at 2^30.'),
  })
  .meta({ id: 'CustomSuite', description: 'A suite of your own: `n` items of each task.' })
export type CustomSuite = z.infer<typeof CustomSuite>

export const FrontierSuite = z
  .strictObject({
    mode: z.literal('frontier').describe('Kind of the suite.'),
    tasks: CustomSuite.shape.tasks,
    categories: CustomSuite.shape.categories,
    n: z.int().min(4).max(200).default(20).describe('Number of items per task.'),
    seed: CustomSuite.shape.seed,
  })
  .meta({
    id: 'FrontierSuite',
    description:
      'Suite that measures the difficulty at which the model solves half of the items beyond guessing. Each item is chosen from the answers so far.',
  })
export type FrontierSuite = z.infer<typeof FrontierSuite>

export const SuiteName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be the name of a suite, as GET /eval/suites lists it')
  .meta({ id: 'SuiteName', description: 'Name of a frozen suite.', examples: ['original'] })
  .register(NOT_FOUND_CODES, { code: 'unknown_suite', kind: 'suite' }) // last: every other method returns a copy that is not registered

/** Whether the items of a suite are chosen from the answers. */
export function isFrontier(suite: string | CustomSuite | FrontierSuite): suite is 'frontier' | FrontierSuite {
  return suite === 'frontier' || (typeof suite === 'object' && 'mode' in suite)
}

export const SuiteSummary = z
  .strictObject({
    name: z.string().describe('Name of the suite.'),
    version: z.int().describe('Version of the suite.'),
    items: Count.describe('Number of items.'),
    sha256: z.string().describe('Content hash of the suite.'),
    description: z.string().describe('What the suite measures.'),
  })
  .meta({ id: 'SuiteSummary', description: 'A frozen suite in a list.' })
export type SuiteSummary = z.infer<typeof SuiteSummary>

export const Suite = z
  .strictObject({
    ...SuiteSummary.shape,
    engine: z.string().describe('Version of the library.'),
    recipes: z
      .array(
        z
          .strictObject({ ...Recipe.shape, id: ItemId })
          .meta({ id: 'SuiteRecipe', description: 'Recipe and ID of an item.' }),
      )
      .describe('Recipes of the items, with item IDs.'),
    struck: z
      .array(
        z
          .strictObject({
            id: ItemId,
            flaw: z.enum(['no_right_answer', 'wrong_key', 'several_readings']).describe('What is wrong.'),
          })
          .meta({ id: 'StruckItem', description: 'An item that the next version lacks.' }),
      )
      .describe('Items with a flaw found after the suite was frozen. Evals of the suite contain them.'),
  })
  .meta({ id: 'Suite', description: 'A frozen list of recipes with a content hash.' })
export type Suite = z.infer<typeof Suite>
