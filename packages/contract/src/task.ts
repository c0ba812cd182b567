/** A task: a dataset of the library, with its difficulty ladder and measured figures. */
import { z } from 'zod'
import { JsonObject, NullableNumber, NullableText, Share } from './common.ts'
import { Item } from './item.ts'
import { Config } from './recipe.ts'

export const Credit = z.enum(['binary', 'partial', 'continuous']).meta({
  id: 'Credit',
  description:
    'Scores that a task gives. `binary`: 0 or 1; `partial`: a few fixed values in [0, 1]; `continuous`: any value in [0, 1].',
})
export type Credit = z.infer<typeof Credit>

export const TaskSummary = z
  .strictObject({
    name: z.string().describe('Name of the task, such as `leg_counting`.'),
    category: z.string().describe('Category of the task, such as `arithmetic`.'),
    description: NullableText.describe(
      'What the task asks for, in a sentence; null for a task that only the running library has.',
    ),
    credit: Credit,
    scorer: z
      .enum(['native', 'library'])
      .describe('`native`: scored in TypeScript; `library`: scored by the Python library.'),
    code_hash: NullableText.describe(
      'Hash of the code of a task from `TASKS_PATH`, which is part of its item IDs; null for a task of the library.',
    ),
    adjustable: z.boolean().describe('Whether the task has a difficulty ladder.'),
    guess_floor: NullableNumber.describe(
      'Mean score of the best guess at the library’s defaults, under hardened scoring; null if not measured.',
    ),
    rungs: z.int().min(1).describe('Number of rungs of the ladder; 1 if the difficulty cannot be adjusted.'),
    public_benchmark: NullableText.describe(
      'Published benchmark whose questions, templates or generator the task uses; null if there is none.',
    ),
    shortcut: NullableText.describe(
      'Why a rule that is much simpler than the task answers most items, so that the preset `clean` leaves it out; null if no such rule is known.',
    ),
  })
  .meta({ id: 'TaskSummary', description: 'A task in a list.' })
export type TaskSummary = z.infer<typeof TaskSummary>

export const LibraryVersion = z
  .strictObject({
    library: z.string().describe('Name of the library.'),
    version: z.string().describe('Version of the library.'),
  })
  .meta({ id: 'LibraryVersion', description: 'A library and its version.' })

export const TaskList = z
  .strictObject({
    engine: LibraryVersion.describe('Library that makes and scores the items.'),
    source: z
      .enum(['registry', 'fallback'])
      .describe(
        '`registry`: the running library listed these tasks. `fallback`: the library is not available, and these are the tasks that it listed last, or a built-in list.',
      ),
    problems: z
      .array(z.string())
      .describe('What is wrong with files of `TASKS_PATH`, such as `bus.py: SyntaxError: …`. Empty if nothing is.'),
    total: z.int().describe('Number of tasks in this list.'),
    tasks: z.array(TaskSummary).describe('Tasks that match the query.'),
  })
  .meta({ id: 'TaskList', description: 'Tasks of the library.' })
export type TaskList = z.infer<typeof TaskList>

export const TaskStatistics = z
  .strictObject({
    items: z.int().describe('Number of items made.'),
    rollouts: z.int().describe('Number of rollouts scored.'),
    mean_score: NullableNumber.describe('Mean score of these rollouts; null if there are none.'),
    make_ms: NullableNumber.describe('Mean time to make an item, in milliseconds; null if there are none.'),
    score_ms: NullableNumber.describe('Mean time to score an answer, in milliseconds; null if there are none.'),
  })
  .meta({ id: 'TaskStatistics', description: 'Use of a task on this server so far.' })
export type TaskStatistics = z.infer<typeof TaskStatistics>

const FloorByScoring = z
  .strictObject({
    upstream: Share.describe('Value with `scoring: "upstream"`.'),
    hardened: Share.describe('Value with `scoring: "hardened"`.'),
  })
  .meta({ id: 'FloorByScoring', description: 'A mean score in [0, 1] for each scoring mode.' })

export const TaskCard = z
  .strictObject({
    items: z.int().min(1).describe('Number of items made for the measurement: 1,000, or fewer if the task is slow.'),
    measured: z.int().min(1).describe('Number of these items that `guess_floor` and `lookup_floor` average over.'),
    guess_floor: FloorByScoring.describe(
      'Mean score of the best guess: a constant, a common correct answer, an echo of the question, a random answer of the right form, or the linear model of `learned_floor`. The best guess is chosen on other items than it is measured on.',
    ),
    guess_floor_stderr: FloorByScoring.describe('Standard error of `guess_floor`.'),
    best_guess: z
      .strictObject({
        upstream: z.string().describe('Guess with `scoring: "upstream"`.'),
        hardened: z.string().describe('Guess with `scoring: "hardened"`.'),
      })
      .describe('Guess that earns `guess_floor`: a constant in quotation marks, or the name of a strategy.'),
    lookup_floor: FloorByScoring.describe(
      'Mean score of the correct answer to the most similar of up to 200 other questions: what memorization earns.',
    ),
    learned_floor: FloorByScoring.nullable().describe(
      'Mean score of a linear model of words, symbols and counts on up to 500 unseen questions, after 400 items: what a simple rule earns. null where it earns less than the other guesses or answers hardly repeat.',
    ),
    prior: Share.describe('Share of `items` that have the most common correct answer.'),
    distinct_in_1000: z
      .int()
      .min(1)
      .max(1000)
      .describe('Number of different questions among 1,000 items; estimated from equal pairs if `items` is smaller.'),
    best_attainable: FloorByScoring.describe('Mean score of the library’s own reference answers, over up to 50 items.'),
    make_ms: z.number().min(0).describe('Mean processor time to make an item, in milliseconds on one core.'),
  })
  .meta({ id: 'TaskCard', description: 'Figures of a task, measured at one config.' })
export type TaskCard = z.infer<typeof TaskCard>

export const KeyFaults = z
  .strictObject({
    wrong_key: Share.describe('The answer key is wrong.'),
    several_readings: Share.describe('The question has several readings with different answers.'),
    no_right_answer: Share.describe('No answer is right, or the puzzle is solved at the start.'),
    right_unpaid: Share.describe('Some right answer does not earn the full score.'),
    wrong_paid: Share.describe('Some wrong answer earns the full score.'),
  })
  .meta({ id: 'KeyFaults', description: 'Shares of items with a fault.' })
export type KeyFaults = z.infer<typeof KeyFaults>

export const KeyCheck = z
  .strictObject({
    items: z.int().min(1).describe('Items compared, at the defaults and on every rung.'),
    upstream: KeyFaults.describe('Faults of the library, over all compared items.'),
    hardened: KeyFaults.describe('What remains with `scoring: "hardened"` and `clarify`.'),
    limits: NullableText.describe('What the second opinion cannot check; null if nothing.'),
    correction: NullableText.describe('What hardened scoring corrects; null if nothing.'),
  })
  .meta({ id: 'KeyCheck', description: 'Comparison of the answer keys with a second solver.' })
export type KeyCheck = z.infer<typeof KeyCheck>

export const TaskDetail = z
  .strictObject({
    ...TaskSummary.shape,
    config_schema: JsonObject.nullable().describe(
      'JSON Schema of the config; null while the library is not available.',
    ),
    not_adjustable: NullableText.describe('Why the difficulty cannot be adjusted; null if it can.'),
    ladder: z
      .array(
        z
          .strictObject({
            difficulty: z.number().describe('Difficulty of the rung, in [0, 1].'),
            config: Config.describe('Library config of the rung.'),
          })
          .describe('Rung of a difficulty ladder.'),
      )
      .describe('Rungs of the difficulty ladder, from easiest to hardest.'),
    card: z
      .strictObject({
        engine_version: z.string().describe('Version of the library that was measured.'),
        defaults: TaskCard.nullable().describe('Figures at the library’s defaults; null if they were not measured.'),
        rungs: z
          .array(TaskCard.nullable())
          .describe(
            'Figures of each rung, in the order of `ladder`; null for a rung that changed since the measurement.',
          ),
        guessable: NullableText.describe(
          'Why guessing earns 0.25 or more on every rung and no library config avoids it; null if that is not the case.',
        ),
      })
      .describe(
        'Task card: figures of the defaults and of each rung, measured in advance. Your own configs have no card.',
      ),
    keys: KeyCheck.nullable().describe(
      'Comparison of the answer keys with a second solver; null for a task from `TASKS_PATH`.',
    ),
    example: Item.nullable().describe('Example item; null while the library is not available.'),
    statistics: TaskStatistics,
  })
  .meta({ id: 'TaskDetail', description: 'A task with its config schema, ladder, task card and an example.' })
export type TaskDetail = z.infer<typeof TaskDetail>
