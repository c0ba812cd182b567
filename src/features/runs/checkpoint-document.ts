/** A run's checkpoint: all that a trainer's own checkpoint cannot hold. Restored anywhere, the run continues as it was. */
import { z } from 'zod'
import { Difficulty, TaskName } from '../../contract/recipe.ts'
import { RunName } from '../../contract/rollout.ts'
import { CurriculumPoint, FrontierEstimate, SettingsChange } from '../../contract/run.ts'
import { IssuedItems, MAX_POSITION, Position } from './checkpoint-issued-items.ts'
import { FRONTIER_CELLS, MAX_FRONTIER_WEIGHT } from './frontier/frontier.ts'
import { runRecord, stepSumsRecord, taskSumsRecord } from './run-record.ts'
import { SEEDS_PER_POSITION } from './sequence/sequence.ts'

export const CHECKPOINT_VERSION = 4

const DifficultyLabel = Difficulty.nullable()
const Retry = z
  .int()
  .min(1)
  .max(SEEDS_PER_POSITION - 1)
  .optional()
  .describe('Which seed of its position the item has; left out for the first')
const Accuracy = z.number().min(0).max(1)
/** Of a group; beyond what any task gives. */
const MAX_SCORE = 1e6
const Score = z.number().min(-MAX_SCORE).max(MAX_SCORE)
const LeaseEnd = z.number().min(0).max(Number.MAX_SAFE_INTEGER)
/** As `hashQuestion` writes it. */
const QuestionHash = z.string().regex(/^[\w-]{11}$/, 'a hash of 64 bits in base64url')
/** More than a run remembers. */
const MAX_QUESTIONS = 150_000
/** As many as a call may ask for. */
const MAX_STEP_ITEMS = 1024
/** More than calls ask for at once. */
const MAX_REQUESTED = 1_000_000
/** More than a run keeps. */
const MAX_STEP_SUMS = 10_000

/** Not all 0: they are probabilities. */
const FrontierWeights = z
  .array(z.int().min(0).max(MAX_FRONTIER_WEIGHT))
  .length(FRONTIER_CELLS)
  .refine((weights) => weights.some((weight) => weight > 0), 'a weight must be above 0')
  .describe('Of each place and slope')

const Counters = runRecord.checkpointSchema.refine(
  ({ prefetch_target = 0 }) => Math.abs(prefetch_target) <= MAX_POSITION,
  { path: ['prefetch_target'], error: `must be at most ${MAX_POSITION}` },
)

export const Checkpoint = z
  .strictObject({
    version: z.literal(CHECKPOINT_VERSION).describe('Of this format'),
    engine: z.string().describe('Version of the library; another version makes other items'),
    run: RunName.describe('The run that the checkpoint was taken of'),
    created_at: z.string(),
    settings: SettingsChange.describe('Explicit settings; all others have their defaults'),
    counters: Counters.describe('Numbers of the run; fields ending in `_at` are times in ms'),
    curriculum: z
      .record(
        TaskName,
        z.strictObject({
          level: Difficulty,
          accuracy: Score.optional(),
          scores: z.array(Score).max(10),
          frontier: FrontierEstimate.extend({ weights: FrontierWeights }).optional(),
        }),
      )
      .describe('Level of each task, accuracy of its last five scores, its last scores, and its frontier'),
    recent_accuracies: z
      .record(TaskName, z.array(Accuracy).max(50))
      .describe('Shares of correct rollouts in the last groups of each task, oldest first'),
    learnability: z
      .record(
        TaskName,
        z
          .array(
            z.strictObject({
              variance: z
                .number()
                .min(0)
                .max(MAX_SCORE ** 2),
              score: Score,
              floor: Accuracy,
              number: z.int().min(0),
            }),
          )
          .max(50),
      )
      .optional()
      .describe(
        'What the last groups of each task tell `sampling: "learnability"`, oldest first: variance and mean of their scores, guess floor, number in the order of completion',
      ),
    tasks: z.record(TaskName, taskSumsRecord.checkpointSchema).describe('Sums of each task'),
    curriculum_history: z.array(CurriculumPoint).describe('Oldest first'),
    sequence: z
      .strictObject({
        position: Position.describe('Next position that was never opened'),
        open: z.array(Position).max(5000).describe('Opened positions whose items are not issued'),
        drawn: z
          .array(z.strictObject({ position: Position, task: TaskName }))
          .max(5000)
          .optional()
          .describe('Tasks of open positions, where the position alone does not determine them: under `learnability`'),
        questions: z
          .record(QuestionHash, Position)
          .refine((questions) => Object.keys(questions).length <= MAX_QUESTIONS, `at most ${MAX_QUESTIONS} questions`)
          .optional()
          .describe('Hash of each question that the run remembers, and the position that asked it'),
        leases: z.array(
          z.strictObject({
            position: Position,
            until: LeaseEnd,
            task: TaskName,
            difficulty: DifficultyLabel,
            retry: Retry,
          }),
        ),
        requested: z
          .array(Position)
          .max(MAX_REQUESTED)
          .describe('Positions that a step or a call by number asked for and whose items are not issued yet'),
        issued: IssuedItems,
        steps: z
          .array(
            z.strictObject({
              step: z.int().min(0),
              positions: z
                .array(z.tuple([Position, z.int().min(1).max(MAX_STEP_ITEMS)]))
                .min(1)
                .max(MAX_STEP_ITEMS)
                .describe('First position and number of positions of each stretch'),
            }),
          )
          .describe('Positions of the training steps that asked for items'),
      })
      .describe('Items that were issued, and those that come next'),
    step_sums: z
      .array(z.strictObject({ step: z.int().min(0), sums: stepSumsRecord.checkpointSchema }))
      .max(MAX_STEP_SUMS)
      .describe('Sums of each training step, oldest first'),
  })
  .meta({ id: 'Checkpoint' })
export type Checkpoint = z.infer<typeof Checkpoint>

/** What a restored run has lost. */
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
