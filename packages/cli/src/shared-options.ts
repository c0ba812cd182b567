/** Options that several commands share: those of a recipe, and the descriptions of those for grading. */
import { type Command, Option } from 'commander'
import { integerParser, parseJsonObject, parseUnitInterval } from './option-parsers.ts'

export interface RecipeOptions {
  seed: number
  difficulty?: number
  config?: Record<string, unknown>
}

export function addRecipeOptions<Kind extends Command>(command: Kind): Kind {
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

export const EXTRACTION_DESCRIPTION =
  'how to find the answer in a completion. strict: in exactly one pair of answer tags; last_tag: in the last pair; tag_or_boxed: in tags or in \\boxed{}; bare: the whole completion'
export const DUAL_FORMAT_DESCRIPTION =
  'score the answer only as it stands; by default it is also scored wrapped in answer tags, and the higher score counts'
export const SCORING_DESCRIPTION =
  'upstream: the scores of the library; hardened: the same with known reward hacks closed'
