/** How an item is made. Equal recipes make equal items, so the recipe is the identity. */
import { z } from 'zod'

/** The seeds that clients make up end here; eval items come after, then training items. */
export const CLIENT_SEEDS_END = 2 ** 30
export const EVAL_SEEDS_START = CLIENT_SEEDS_END
export const TRAINING_SEEDS_START = 2 ** 31
export const SEEDS_END = 2 ** 32

/** The name of a dataset of the library. */
const TASK_NAME_PATTERN = /^[a-z0-9_]{1,64}$/
export const TaskName = z
  .string()
  .regex(TASK_NAME_PATTERN, 'a task name: small letters, digits and underscores')
  .describe('Name of a task')

/** Fields of a task's config, in plain JSON. */
export const Config = z.record(z.string(), z.unknown())
export type Config = z.infer<typeof Config>

/** One number for every task: 0 is easiest, 1 hardest. */
export const Difficulty = z.number().min(0).max(1)

const SeedOrIndex = z
  .int()
  .min(0)
  .max(SEEDS_END - 1)

/** A recipe as a client writes it; also one that the server returned. */
export const RecipeInput = z
  .strictObject({
    task: TaskName,
    config: Config.optional().describe('Fields that differ from the library’s defaults'),
    difficulty: Difficulty.nullish().describe('A rung of the task’s ladder, in place of config'),
    seed: SeedOrIndex.default(0),
    index: SeedOrIndex.default(0),
    engine: z.string().max(64).optional().describe('Version of the library; must be the server’s'),
  })
  .meta({ id: 'RecipeInput' })
export type RecipeInput = z.infer<typeof RecipeInput>

/** The recipe if it is a plain one, of task, seed and index alone; undefined where the schema must look. */
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

/** A checked recipe: the config is canonical, the difficulty a label. */
export interface Recipe {
  task: string
  config: Config
  difficulty: number | null
  seed: number
  index: number
  engine: string
}

/** A recipe as the server writes it. */
export const RecipeOutput = z
  .strictObject({
    task: TaskName,
    config: Config,
    difficulty: Difficulty.optional(),
    seed: SeedOrIndex,
    index: SeedOrIndex,
    engine: z.string(),
  })
  .meta({ id: 'RecipeOutput' })

export function toRecipeOutput(recipe: Recipe): z.infer<typeof RecipeOutput> {
  const { difficulty, ...rest } = recipe
  return difficulty === null ? rest : { ...rest, difficulty }
}
