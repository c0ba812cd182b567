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

export const TaskDetail = z
  .strictObject({
    ...TaskSummary.shape,
    config_schema: z
      .looseObject({})
      .nullable()
      .describe('JSON Schema of the config; null while the library cannot be asked'),
    ladder: z.array(z.strictObject({ difficulty: z.number(), config: Config })),
    example: Item.nullable(),
    statistics: TaskStatistics,
  })
  .meta({ id: 'TaskDetail' })
export type TaskDetail = z.infer<typeof TaskDetail>
