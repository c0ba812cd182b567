/** A task: a dataset of the library. */
import { z } from 'zod'
import { Item } from './item.ts'
import { Config } from './recipe.ts'

/** binary: 0 or 1; partial: some fixed steps between; continuous: anything between. */
export const Credit = z.enum(['binary', 'partial', 'continuous']).meta({ id: 'Credit' })
export type Credit = z.infer<typeof Credit>

export const TaskSummary = z
  .strictObject({
    name: z.string(),
    category: z.string(),
    credit: Credit,
    scorer: z.enum(['native', 'library']).describe('native: scored in TypeScript; library: by the Python hosts'),
    adjustable: z.boolean().describe('Whether its difficulty can be turned'),
    rungs: z.int().min(1),
    public_benchmark: z
      .string()
      .nullable()
      .describe('The published benchmark whose questions, templates or generator the task uses; null: none'),
  })
  .meta({ id: 'TaskSummary' })
export type TaskSummary = z.infer<typeof TaskSummary>

export const TaskList = z
  .strictObject({
    engine: z.strictObject({ library: z.string(), version: z.string() }),
    source: z
      .enum(['registry', 'fallback'])
      .describe(
        'registry: the running library lists these; fallback: the library cannot be asked, and these are the tasks it listed last or, before that, a built-in list',
      ),
    total: z.int(),
    tasks: z.array(TaskSummary),
  })
  .meta({ id: 'TaskList' })
export type TaskList = z.infer<typeof TaskList>

export const TaskStatistics = z
  .strictObject({
    items: z.int(),
    rollouts: z.int(),
    mean_score: z.number().nullable(),
    make_ms: z.number().nullable().describe('Mean time to make an item, in milliseconds'),
    score_ms: z.number().nullable().describe('Mean time to score an answer, in milliseconds'),
  })
  .meta({ id: 'TaskStatistics' })
export type TaskStatistics = z.infer<typeof TaskStatistics>

const FloorByScoring = z.strictObject({ upstream: z.number().min(0).max(1), hardened: z.number().min(0).max(1) }).meta({
  id: 'FloorByScoring',
  description: 'A mean score in [0, 1] under the library’s scoring and under hardened scoring',
})

export const TaskCard = z
  .strictObject({
    items: z.int().min(1).describe('Items that were made: 1,000, or fewer of a task that makes them slowly'),
    measured: z.int().min(1).describe('How many of these items `guess_floor` and `lookup_floor` average over'),
    guess_floor: FloorByScoring.describe(
      'Mean score of the best guess: a constant, a common right answer, an echo of the question or a random answer of the right form. The best is chosen on other items than those it is measured on',
    ),
    guess_floor_stderr: FloorByScoring.describe('Standard error of `guess_floor`'),
    best_guess: z
      .strictObject({ upstream: z.string(), hardened: z.string() })
      .describe('The guess that earns `guess_floor`: a constant in quotation marks, or the name of an echo'),
    lookup_floor: FloorByScoring.describe(
      'Mean score of the right answer to the most similar of up to 200 other questions: what learning by heart earns',
    ),
    prior: z.number().min(0).max(1).describe('Share of the most common right answer among `items`'),
    distinct_in_1000: z
      .int()
      .min(1)
      .max(1000)
      .describe('Different questions among 1,000; estimated from equal pairs if `items` is less'),
    best_attainable: FloorByScoring.describe('Mean score of the library’s own right answers, over up to 50 items'),
    make_ms: z.number().min(0).describe('Mean time to make an item, in milliseconds of processor time of one core'),
  })
  .meta({ id: 'TaskCard', description: 'What was measured of a task at one config' })
export type TaskCard = z.infer<typeof TaskCard>

export const CardLimit = z
  .strictObject({
    figure: z.enum(['guess_floor', 'distinct_in_1000', 'best_attainable']),
    rungs: z.array(z.int().min(0)).min(1).describe('Counted from 0'),
    why: z.string().min(1),
  })
  .meta({
    id: 'CardLimit',
    description:
      'Rungs that no config of the library mends: easier to guess than the rung below, fewer than 500 different questions in 1,000, or a best attainable score under 0.95',
  })
export type CardLimit = z.infer<typeof CardLimit>

export const TaskDetail = z
  .strictObject({
    ...TaskSummary.shape,
    config_schema: z
      .looseObject({})
      .nullable()
      .describe('JSON Schema of the config; null while the library cannot be asked'),
    ladder: z.array(z.strictObject({ difficulty: z.number(), config: Config })),
    card: z
      .strictObject({
        engine_version: z.string().describe('Version of the library that was measured'),
        defaults: TaskCard.nullable().describe('At the library’s defaults'),
        rungs: z
          .array(TaskCard.nullable())
          .describe('In the order of `ladder`. A rung that was changed after the measurement is null'),
        limits: z.array(CardLimit).describe('What is known to be wrong with the ladder'),
        guessable: z
          .string()
          .nullable()
          .describe(
            'Why a guess earns a quarter or more on every rung, where no config of the library helps; else null',
          ),
      })
      .describe('What the defaults and each rung are worth, measured beforehand. Configs of your own have no card'),
    example: Item.nullable(),
    statistics: TaskStatistics,
  })
  .meta({ id: 'TaskDetail' })
export type TaskDetail = z.infer<typeof TaskDetail>
