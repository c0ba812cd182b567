/** Data sets of items as files for trainers: what may be asked for. */
import { z } from 'zod'
import { RunName } from './rollout.ts'
import { TaskOrCategory } from './run.ts'

/** Twice as many rows as any published reinforcement learning data set has; far fewer than a run has positions. */
const MAX_DATASET_ROWS = 1_000_000

export const DatasetFormat = z
  .enum(['hf', 'trl', 'verl', 'openrlhf', 'slime', 'skyrl', 'nemo-gym', 'swift'])
  .meta({ id: 'DatasetFormat', description: 'Trainer whose columns the rows have. `hf` and `trl` are the same.' })
export type DatasetFormat = z.infer<typeof DatasetFormat>

/** Lists in a query: `a,b`, or the parameter more than once. */
const CommaSeparated = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => [value].flat().flatMap((part) => part.split(',').map((word) => word.trim())))

const DatasetTasks = CommaSeparated.transform((words, context): 'all' | string[] => {
  if (words.length === 1 && words[0] === 'all') return 'all'
  if (!words.every((word) => TaskOrCategory.safeParse(word).success))
    context.addIssue({
      code: 'custom',
      message: 'must be `all`, or names of tasks and category:NAME, separated by commas',
    })
  return words
})

const DatasetDifficulty = CommaSeparated.transform((parts, context): [low: number, high: number] => {
  const [low = NaN, high = low, ...more] = parts.map((part) => (part === '' ? NaN : Number(part)))
  if (!(low >= 0 && low <= high && high <= 1) || more.length > 0)
    context.addIssue({ code: 'custom', message: 'must be a number from 0 to 1, or a range such as 0.2,0.8' })
  return [low, high]
})

/** What data sets of training items and of suites have in common. */
export const DatasetRowsQuery = z.strictObject({
  format: DatasetFormat.default('hf').describe('Trainer that reads the rows'),
  prompt: z
    .enum(['system', 'user'])
    .optional()
    .describe(
      'Where the instructions stand: in a system message, or in the user’s message before the question, for trainers that keep only that. Default: as in the run, else `system`',
    ),
  run: RunName.optional().describe(
    'Run whose tasks, seed, difficulty and instructions apply by default. None of its items is handed out or counted',
  ),
  from: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_DATASET_ROWS)
    .default(0)
    .describe('First row to send, counted from 0: resumes a download that broke off'),
  name: z
    .string()
    .max(100)
    .optional()
    .describe('Ignored. For readers that go by the end of the URL, as in `difficulty=0.3&name=rows.jsonl`'),
})
export type DatasetRowsQuery = z.infer<typeof DatasetRowsQuery>

export const DatasetQuery = z.strictObject({
  ...DatasetRowsQuery.shape,
  tasks: DatasetTasks.optional().describe(
    '`all`, or names and `category:NAME`, separated by commas. Default: those of the run, else all',
  ),
  difficulty: DatasetDifficulty.optional().describe(
    'A number from 0 to 1, or a range such as `0.2,0.8`, from which each row takes its own difficulty. Default: that with which the run begins, else the library’s defaults',
  ),
  seed: z.coerce
    .number()
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .optional()
    .describe('Other seeds give other items. Default: the run’s, else 42'),
  count: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_DATASET_ROWS)
    .default(1000)
    .describe('Number of rows of the whole data set'),
})
export type DatasetQuery = z.infer<typeof DatasetQuery>
