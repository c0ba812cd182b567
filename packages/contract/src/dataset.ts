/** Query of the routes that write data sets of items as files for trainers. */
import { z } from 'zod'
import { RunName } from './rollout.ts'
import { TaskOrCategory } from './run-settings.ts'

/** Twice as many rows as any published reinforcement learning data set has; far fewer than a run has positions. */
const MAX_DATASET_ROWS = 1_000_000

export const DatasetFormat = z
  .enum(['hf', 'trl', 'verl', 'openrlhf', 'slime', 'skyrl', 'nemo-gym', 'swift'])
  .meta({ id: 'DatasetFormat', description: 'Trainer whose columns the rows have. `hf` and `trl` are the same.' })
export type DatasetFormat = z.infer<typeof DatasetFormat>

/** A list in a query: `a,b`, or the parameter repeated. */
const CommaSeparated = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => [value].flat().flatMap((part) => part.split(',').map((word) => word.trim())))

const DatasetTasks = CommaSeparated.transform((words, context): 'all' | string[] => {
  if (words.length === 1 && words[0] === 'all') return 'all'
  if (!words.every((word) => TaskOrCategory.safeParse(word).success))
    context.addIssue({
      code: 'custom',
      message: 'must be `all`, or task names and category:NAME, separated by commas',
    })
  return words
})

const DatasetDifficulty = CommaSeparated.transform((parts, context): [low: number, high: number] => {
  const [low = NaN, high = low, ...more] = parts.map((part) => (part === '' ? NaN : Number(part)))
  if (!(low >= 0 && low <= high && high <= 1) || more.length > 0)
    context.addIssue({ code: 'custom', message: 'must be a number from 0 to 1, or a range such as 0.2,0.8' })
  return [low, high]
})

/** Parameters that data sets of training items and of suites share. */
export const DatasetRowsQuery = z.strictObject({
  format: DatasetFormat.default('hf').describe('Trainer that reads the rows.'),
  prompt: z
    .enum(['system', 'user'])
    .optional()
    .describe(
      'Where the instructions go: in a system message, or at the start of the user message, for trainers that keep only that. Defaults to the setting of the run, else to `system`.',
    ),
  run: RunName.optional().describe(
    'Run whose tasks, seed, difficulty and instructions apply by default. The call does not hand out or count items of the run.',
  ),
  from: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_DATASET_ROWS)
    .default(0)
    .describe('First row to send, counted from 0. Use it to resume an interrupted download.'),
  name: z
    .string()
    .max(100)
    .optional()
    .describe(
      'Ignored. It lets the URL end with a file name, as in `difficulty=0.3&name=rows.jsonl`, for readers that require one.',
    ),
})
export type DatasetRowsQuery = z.infer<typeof DatasetRowsQuery>

export const DatasetQuery = z.strictObject({
  ...DatasetRowsQuery.shape,
  tasks: DatasetTasks.optional().describe(
    '`all`, or task names and `category:NAME`, separated by commas. Defaults to the tasks of the run, else to all.',
  ),
  difficulty: DatasetDifficulty.optional().describe(
    'Difficulty from 0 to 1, or a range such as `0.2,0.8` from which each row draws its own. Defaults to the difficulty that the run starts with, else to the library’s defaults.',
  ),
  seed: z.coerce
    .number()
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .optional()
    .describe('Seed of the data set. Defaults to the seed of the run, else to 42.'),
  count: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_DATASET_ROWS)
    .default(1000)
    .describe('Number of rows of the whole data set.'),
})
export type DatasetQuery = z.infer<typeof DatasetQuery>
