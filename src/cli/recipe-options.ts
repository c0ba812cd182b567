/** The options of a recipe: seed, and difficulty or config. */
import { type Command, Option } from 'commander'
import { integerParser, parseJsonObject, parseUnitInterval } from './option-parsers.ts'

export interface RecipeOptions {
  seed: number
  difficulty?: number
  config?: Record<string, unknown>
}

export function addRecipeOptions(command: Command): Command {
  return command
    .option('--seed <number>', 'seed of the item, or of the first of several items', integerParser(), 42)
    .addOption(
      new Option(
        '--difficulty <number>',
        'difficulty from 0 (easiest) to 1 (hardest), which selects a rung of the task’s ladder (default: the config defaults of the library)',
      )
        .argParser(parseUnitInterval)
        .conflicts('config'),
    )
    .option(
      '--config <json>',
      'config fields as a JSON object; fields that you omit keep their defaults',
      parseJsonObject,
    )
}

/** The recipe fields that these options set, without the seed. */
export function buildRecipeFields({ difficulty, config }: RecipeOptions): object {
  return { ...(difficulty !== undefined && { difficulty }), ...(config && { config }) }
}
