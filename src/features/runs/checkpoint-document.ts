/**
 * The checkpoint document of a run. It holds everything that a trainer's own checkpoint cannot, so that a restored run
 * continues on any server.
 */

import { Difficulty, TaskName } from '@reasoning-gym-server/contract/recipe'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { CurriculumPoint, FrontierEstimate } from '@reasoning-gym-server/contract/run'
import { SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { z } from 'zod'
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
  .describe('Number of the seed that the item has among the seeds of its position; absent for the first.')
const Accuracy = z.number().min(0).max(1)
/** Limit of a group's score, far above what any task gives. */
const MAX_SCORE = 1e6
const Score = z.number().min(-MAX_SCORE).max(MAX_SCORE)
const LeaseEnd = z.number().min(0).max(Number.MAX_SAFE_INTEGER)
/** Hash in the format that `hashQuestion` writes. */
const QuestionHash = z.string().regex(/^[\w-]{11}$/, 'must be a hash of 64 bits in base64url')
/** Limit of question hashes, above what a run remembers. */
const MAX_QUESTIONS = 150_000
/** Limit of items in a step, the same as in a request. */
const MAX_STEP_ITEMS = 1024
/** Limit of requested positions, above what calls request at once. */
const MAX_REQUESTED = 1_000_000
/** Limit of steps with metrics, above what a run keeps. */
const MAX_STEP_SUMS = 10_000

/** Weights of a frontier. They are proportional to probabilities, so at least one is positive. */
const FrontierWeights = z
  .array(z.int().min(0).max(MAX_FRONTIER_WEIGHT))
  .length(FRONTIER_CELLS)
  .refine((weights) => weights.some((weight) => weight > 0), 'must have a weight above 0')
  .describe('Weight of each combination of place and slope.')

const Counters = runRecord.checkpointSchema.refine(
  ({ prefetch_target = 0 }) => Math.abs(prefetch_target) <= MAX_POSITION,
  { path: ['prefetch_target'], error: `must be at most ${MAX_POSITION}` },
)

export const Checkpoint = z
  .strictObject({
    version: z.literal(CHECKPOINT_VERSION).describe('Version of the checkpoint format.'),
    engine: z.string().describe('Version of the library. Another version makes other items.'),
    run: RunName.describe('Run that the checkpoint was taken from.'),
    created_at: z.string().describe('Time of creation, ISO 8601.'),
    settings: SettingsChange.describe('Explicit settings. All others have their defaults.'),
    counters: Counters.describe('Counters of the run. Fields that end in `_at` are Unix times in milliseconds.'),
    curriculum: z
      .record(
        TaskName,
        z
          .strictObject({
            level: Difficulty,
            accuracy: Score.optional().describe('Mean of the last five scores.'),
            scores: z.array(Score).max(10).describe('Last scores, oldest first.'),
            frontier: FrontierEstimate.extend({ weights: FrontierWeights })
              .describe('Frontier estimate of the task, with its weights.')
              .optional(),
          })
          .describe('State of the curriculum for one task.'),
      )
      .describe('State of the curriculum by task: level, accuracy of the last five scores, last scores and frontier.'),
    recent_accuracies: z
      .record(TaskName, z.array(Accuracy).max(50))
      .describe('Shares of correct rollouts in the last groups of each task, oldest first.'),
    learnability: z
      .record(
        TaskName,
        z
          .array(
            z
              .strictObject({
                variance: z
                  .number()
                  .min(0)
                  .max(MAX_SCORE ** 2)
                  .describe('Variance of the scores.'),
                score: Score.describe('Mean of the scores.'),
                floor: Accuracy.describe('Guess floor of the item.'),
                number: z.int().min(0).describe('Number in the order of completion.'),
              })
              .describe('Evidence from one group.'),
          )
          .max(50),
      )
      .optional()
      .describe(
        'Evidence for `sampling: "learnability"` from the last groups of each task, oldest first: variance and mean of the scores, guess floor, and number in the order of completion.',
      ),
    tasks: z
      .record(TaskName, taskSumsRecord.checkpointSchema.describe('Statistics of one task.'))
      .describe('Statistics of each task.'),
    curriculum_history: z.array(CurriculumPoint).describe('Groups that moved the curriculum, oldest first.'),
    sequence: z
      .strictObject({
        position: Position.describe('Next position that was never opened.'),
        open: z.array(Position).max(5000).describe('Opened positions whose items are not issued.'),
        drawn: z
          .array(z.strictObject({ position: Position, task: TaskName }).describe('Task of an open position.'))
          .max(5000)
          .optional()
          .describe(
            'Tasks of open positions with `sampling: "learnability"`, where the position alone does not determine the task.',
          ),
        questions: z
          .record(QuestionHash, Position)
          .refine(
            (questions) => Object.keys(questions).length <= MAX_QUESTIONS,
            `must have at most ${MAX_QUESTIONS} questions`,
          )
          .optional()
          .describe('Position at which each question was asked, by the hash of the question.'),
        leases: z
          .array(
            z
              .strictObject({
                position: Position,
                until: LeaseEnd.describe('End of the lease, as a Unix time in milliseconds.'),
                task: TaskName,
                difficulty: DifficultyLabel,
                retry: Retry,
              })
              .describe('Lease of an item that was handed out.'),
          )
          .describe('Leases of the items that were handed out.'),
        requested: z
          .array(Position)
          .max(MAX_REQUESTED)
          .describe('Positions that were requested by step or by position and whose items are not issued yet.'),
        issued: IssuedItems,
        steps: z
          .array(
            z
              .strictObject({
                step: z.int().min(0).describe('Training step.'),
                positions: z
                  .array(z.tuple([Position, z.int().min(1).max(MAX_STEP_ITEMS)]))
                  .min(1)
                  .max(MAX_STEP_ITEMS)
                  .describe('First position and number of positions of each range.'),
              })
              .describe('Positions of one training step.'),
          )
          .describe('Positions of the items of each training step.'),
      })
      .describe('State of the item sequence.'),
    step_sums: z
      .array(
        z
          .strictObject({
            step: z.int().min(0).describe('Training step.'),
            sums: stepSumsRecord.checkpointSchema.meta({
              id: 'CheckpointStepCounters',
              description: 'Statistics of the step.',
            }),
          })
          .describe('Statistics of one training step.'),
      )
      .max(MAX_STEP_SUMS)
      .describe('Statistics of each training step, oldest first.'),
    block_sums: z
      .array(
        z
          .strictObject({
            first_group: z.int().min(1).describe('Number of the first group.'),
            sums: stepSumsRecord.checkpointSchema.describe('Statistics of the groups.'),
          })
          .describe('Statistics of a block of groups that belong to no step.'),
      )
      .max(MAX_STEP_SUMS)
      .optional()
      .describe('Statistics of the groups that belong to no step, oldest first.'),
  })
  .meta({
    id: 'Checkpoint',
    'x-opaque': true,
    description:
      'State of a run: settings, curriculum, statistics and item sequence. Treat it as opaque: store it and send it back unchanged.',
  })
export type Checkpoint = z.infer<typeof Checkpoint>

export const DiscardedCounts = z
  .strictObject({
    queued_groups: z.int().describe('Number of groups that waited to be scored.'),
    buffered_groups: z.int().describe('Number of buffered groups.'),
    open_batches: z.int().describe('Number of batches that were not acknowledged.'),
    prepared_items: z.int().describe('Number of items that were made in advance.'),
    remembered_groups: z.int().describe('Number of completed groups that were kept for inspection.'),
  })
  .meta({ id: 'DiscardedCounts', description: 'What the run had and a restored checkpoint discarded.' })
export type DiscardedCounts = z.infer<typeof DiscardedCounts>
