/** How an item is made. Equal recipes make equal items, so the recipe identifies the item. */
import { z } from 'zod'
import { Count, Share } from './common.ts'

/** Client seeds end here; the seeds of eval items follow, then those of training items. */
export const CLIENT_SEEDS_END = 2 ** 30
export const EVAL_SEEDS_START = CLIENT_SEEDS_END
export const TRAINING_SEEDS_START = 2 ** 31
export const SEEDS_END = 2 ** 32

/** Items of suites measure a run and are not part of its training. */
export function isEvalSeed(seed: number): boolean {
  return seed >= EVAL_SEEDS_START && seed < TRAINING_SEEDS_START
}

const TASK_NAME_PATTERN = /^[a-z0-9_]{1,64}$/

/** `Leg-Counting` → `, such as leg_counting` */
function suggestName(input: unknown): string {
  const name = String(input)
    .toLowerCase()
    .replaceAll(/[-\s]+/g, '_')
  return TASK_NAME_PATTERN.test(name) ? `, such as ${name}` : ''
}

export const TaskName = z
  .string()
  .regex(TASK_NAME_PATTERN, {
    error: ({ input }) => `must be a task name: lowercase letters, digits and underscores${suggestName(input)}`,
  })
  .meta({ id: 'TaskName', description: 'Name of a task, such as `leg_counting`.' })

export const Config = z
  .record(z.string(), z.unknown())
  .meta({ id: 'Config', description: 'Fields of the task’s config.' })
export type Config = z.infer<typeof Config>

export const Difficulty = Share.describe('Difficulty on the task’s ladder: 0 is easiest, 1 is hardest.')

const SeedOrIndex = Count.max(SEEDS_END - 1)

/** A recipe in a request. Recipes that the server returned are accepted unchanged. */
export const RecipeInput = z
  .strictObject({
    task: TaskName,
    config: Config.optional().describe(
      'Config fields that differ from the library’s defaults. Without `config` and `difficulty`, the defaults apply.',
    ),
    difficulty: Difficulty.nullish().describe('Difficulty on the task’s ladder, in place of `config`.'),
    seed: SeedOrIndex.default(0).describe(
      'Seed of the dataset. Client seeds must be below 2^30; higher seeds are reserved for training and eval items.',
    ),
    index: SeedOrIndex.default(0).describe('Index of the item in the dataset, counted from 0.'),
    engine: z
      .string()
      .max(64)
      .optional()
      .describe(
        'Version of the library. If it is not the server’s version, the call fails with `engine_version_mismatch`.',
      ),
  })
  .meta({
    id: 'RecipeInput',
    description:
      'How to make an item: `reasoning_gym.create_dataset(task, seed=seed, **config)[index]`. Give `config` or `difficulty`, or neither.',
  })
export type RecipeInput = z.infer<typeof RecipeInput>

/** Parses a recipe of only task, seed and index; undefined for all others, which the schema must validate. */
export function parsePlainRecipe(value: unknown): RecipeInput | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  for (const name in value) if (name !== 'task' && name !== 'seed' && name !== 'index') return undefined
  const { task, seed = 0, index = 0 } = value as { task?: unknown; seed?: unknown; index?: unknown } // checked below
  if (typeof task !== 'string' || !TASK_NAME_PATTERN.test(task) || !isSeedOrIndex(seed) || !isSeedOrIndex(index))
    return undefined
  return { task, seed, index }
}

function isSeedOrIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < SEEDS_END
}

/** A validated recipe. The config is canonical; the difficulty is only a label. */
export interface Recipe {
  task: string
  config: Config
  difficulty: number | null
  seed: number
  index: number
  engine: string
}

/** The same as responses have it: without a difficulty rather than with null. */
export const Recipe = z
  .strictObject({
    task: TaskName,
    config: Config.describe('Config fields that differ from the library’s defaults.'),
    difficulty: Difficulty.optional().describe(
      'Difficulty that was requested; absent for library defaults or a config.',
    ),
    seed: SeedOrIndex.describe('Seed of the dataset.'),
    index: SeedOrIndex.describe('Index of the item in the dataset, counted from 0.'),
    engine: z.string().describe('Version of the library.'),
  })
  .meta({ id: 'Recipe', description: 'How an item was made. The same recipe always gives the same item.' })

export function toRecipeOutput(recipe: Recipe): z.infer<typeof Recipe> {
  const { difficulty, ...rest } = recipe
  return difficulty === null ? rest : { ...rest, difficulty }
}
