/** The options that spell a recipe: seed, index, difficulty or config. */
import { type Command, Option } from 'commander'
import { integerParser, parseJsonObject, parseUnitInterval } from './option-parsers.ts'

export interface RecipeOptions {
  seed: number
  difficulty?: number
  config?: Record<string, unknown>
}

export function addRecipeOptions(command: Command): Command {
  return command
    .option('--seed <number>', 'seed of the (first) item', integerParser(), 42)
    .addOption(
      new Option('--difficulty <number>', 'a rung of the ladder, from 0 to 1')
        .argParser(parseUnitInterval)
        .conflicts('config'),
    )
    .option('--config <json>', 'fields of the task’s config', parseJsonObject)
}

/** The part of a recipe that these options spell, but for the seed. */
export function buildRecipeFields({ difficulty, config }: RecipeOptions): object {
  return { ...(difficulty !== undefined && { difficulty }), ...(config && { config }) }
}
