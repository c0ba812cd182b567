/** All of a run that a trainer's own checkpoint cannot hold: restored anywhere, the run goes on as if nothing had been. */
import { z } from 'zod'
import { Difficulty, TaskName } from './recipe.ts'
import { RunName } from './rollout.ts'
import { CurriculumPoint, SettingsChange } from './run.ts'

/** Further than any run comes; beyond 2^53 a script of Redis would count without getting on. */
const MAX_POSITION = 2 ** 48
const Position = z.int().min(0).max(MAX_POSITION)
const DifficultyLabel = Difficulty.nullable()
/** Of a task, a fault, a figure, and what joins them. */
const COUNTER_NAME_PATTERN = String.raw`[\w:.+<-]{1,200}`
const NamedSums = z.record(z.string().regex(new RegExp(`^${COUNTER_NAME_PATTERN}$`)), z.number())

/** Numbers of 17 digits, so that a level is the same double after its way through JSON. */
const DECIMAL_PATTERN = String.raw`-?\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?`
const DecimalString = z.string().regex(new RegExp(`^${DECIMAL_PATTERN}$`))
const DecimalList = z.string().regex(new RegExp(`^${DECIMAL_PATTERN}(?:,${DECIMAL_PATTERN}){0,49}$`))

/** Whole numbers that lie beside what a run is in Redis, whose names are not theirs to take. */
const Counters = z
  .record(
    z
      .string()
      .regex(
        new RegExp(`^(?!(?:settings|uuid|origin|epoch|revision|created|position)$)${COUNTER_NAME_PATTERN}$`),
        'no name of a counter',
      ),
    z.int(), // a step may be a time in microseconds
  )
  .refine(({ ahead = 0 }) => Math.abs(ahead) <= MAX_POSITION, { path: ['ahead'], error: 'further than any run comes' })

export const Checkpoint = z
  .strictObject({
    format: z.literal(1),
    engine: z.string().describe('Version of the library; items of another are others'),
    run: RunName.describe('Where it was taken'),
    origin: RunName.describe('What the sequence of items is drawn from'),
    created_at: z.string(),
    settings: SettingsChange.describe('What was named; the rest has its default'),
    counters: Counters,
    curriculum: z.record(
      TaskName,
      z.strictObject({
        level: DecimalString,
        accuracy: DecimalString.optional(),
        scores: z.array(DecimalString).max(10),
      }),
    ),
    outcomes: z.record(TaskName, DecimalList),
    tasks: NamedSums,
    history: z.array(CurriculumPoint).describe('Oldest first'),
    sequence: z
      .strictObject({
        position: Position.describe('The next that was never opened'),
        open: z.array(Position).max(5000).describe('Opened, not handed out'),
        drawn: z
          .array(z.strictObject({ position: Position, task: TaskName }))
          .max(5000)
          .optional()
          .describe('Tasks of open positions, where not the position alone tells them: under `learnability`'),
        leases: z.array(
          z.strictObject({ position: Position, until: z.number(), task: TaskName, difficulty: DifficultyLabel }),
        ),
        steps: z.array(
          z.strictObject({
            step: z.int().min(0),
            items: z.array(
              z.strictObject({
                position: Position,
                task: TaskName.nullable().describe('null: not made yet'),
                difficulty: DifficultyLabel,
              }),
            ),
          }),
        ),
      })
      .describe('Which items were handed out and which come next'),
    metrics: z.array(z.strictObject({ step: z.int().min(0), sums: NamedSums })).describe('Sums per step, oldest first'),
  })
  .meta({ id: 'Checkpoint' })
export type Checkpoint = z.infer<typeof Checkpoint>

/** What a restored run has forgotten. */
export const DiscardedCounts = z
  .strictObject({
    queued_groups: z.int(),
    buffered_groups: z.int(),
    open_batches: z.int(),
    prepared_items: z.int(),
    remembered_groups: z.int(),
  })
  .meta({ id: 'DiscardedCounts' })
export type DiscardedCounts = z.infer<typeof DiscardedCounts>
