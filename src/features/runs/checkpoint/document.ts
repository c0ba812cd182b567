/**
 * The checkpoint document of a run. It holds everything that a trainer's own checkpoint cannot, so that a restored run
 * continues on any server.
 */

import { Config, Difficulty, TaskName } from '@reasoning-gym-server/contract/recipe'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { CurriculumPoint, FrontierEstimate } from '@reasoning-gym-server/contract/run'
import { RunMark, RunMix } from '@reasoning-gym-server/contract/run-control'
import { SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { z } from 'zod'
import { parseWeights } from '../curriculum/posterior.ts'
import { MAX_MARKS, MAX_MIXES, runRecord } from '../records.ts'
import { SEEDS_PER_POSITION } from '../sequence/sequence.ts'
import { sumsRecord } from '../sums.ts'
import { IssuedItems, MAX_CHUNKS, MAX_POSITION, Position, Propensity } from './issued-item-columns.ts'

export const CHECKPOINT_VERSION = 2

const DifficultyLabel = Difficulty.nullable()
/** Number of the seed that an item has among the seeds of its position; absent for the first. */
const Retry = z
  .int()
  .min(1)
  .max(SEEDS_PER_POSITION - 1)
  .optional()
const Accuracy = z.number().min(0).max(1)
/** Limit of a group's score, far above what any task gives. */
const MAX_SCORE = 1e6
const Score = z.number().min(-MAX_SCORE).max(MAX_SCORE)
/** Unix time in milliseconds. */
const LeaseEnd = z.number().min(0).max(Number.MAX_SAFE_INTEGER)
/** Hash in the format that `shortenQuestionHash` writes. */
const QuestionHash = z.string().regex(/^[\w-]{11}$/, 'must be a hash of 64 bits in base64url')
/** Limit of question hashes, above what a run remembers. */
const MAX_QUESTIONS = 150_000
/** Limit of items in a step, the same as in a request. */
const MAX_STEP_ITEMS = 1024
/** Limit of requested positions, above what calls request at once. */
const MAX_REQUESTED = 1_000_000
/** Limit of steps with metrics, above what a run keeps. */
const MAX_STEP_SUMS = 10_000

/** Weight of each combination of place, slope and cap, as formatWeights writes them. */
const FrontierWeights = z
  .string('must be text; a checkpoint with a list of weights is of an earlier version of the server')
  .refine((text) => parseWeights(text) !== undefined, 'must be the weights of this version of the server')

const Counters = runRecord.checkpointSchema.refine(
  ({ prefetch_target = 0 }) => Math.abs(prefetch_target) <= MAX_POSITION,
  { path: ['prefetch_target'], error: `must be at most ${MAX_POSITION}` },
)

const Curriculum = z.strictObject({
  level: Difficulty,
  /** Mean of the last five scores. */
  accuracy: Score.optional(),
  /** Last scores, oldest first. */
  scores: z.array(Score).max(10),
  /** Trainer's step of the last group under `frontier`. */
  step: z.int().min(0).optional(),
  frontier: FrontierEstimate.extend({ weights: FrontierWeights }).optional(),
})

/** Evidence from one group for `sampling: "learnability"`: variance and mean of its scores, and its guess floor. */
const Learnability = z.strictObject({
  variance: z
    .number()
    .min(0)
    .max(MAX_SCORE ** 2),
  score: Score,
  floor: Accuracy,
  /** Number in the order of completion. */
  number: z.int().min(0),
})

/** An item that was handed out. */
const Lease = z.strictObject({
  position: Position,
  until: LeaseEnd,
  task: TaskName,
  /** Config in the run's settings. */
  config: Config.optional(),
  difficulty: DifficultyLabel,
  retry: Retry,
  propensity: Propensity.optional(),
})

const Step = z.strictObject({
  step: z.int().min(0),
  /** First position and number of positions of each range. */
  positions: z
    .array(z.tuple([Position, z.int().min(1).max(MAX_STEP_ITEMS)]))
    .min(1)
    .max(MAX_STEP_ITEMS),
})

const Sequence = z.strictObject({
  /** Next position that was never opened. */
  position: Position,
  /** Opened positions whose items are not issued. */
  open: z.array(Position).max(5000),
  /** Tasks of open positions with `sampling: "learnability"`, where the position alone does not determine the task. */
  drawn: z
    .array(z.strictObject({ position: Position, task: TaskName, share: Propensity.optional() }))
    .max(5000)
    .optional(),
  /** Position at which each question was asked, by the hash of the question. */
  questions: z
    .record(QuestionHash, Position)
    .refine(
      (questions) => Object.keys(questions).length <= MAX_QUESTIONS,
      `must have at most ${MAX_QUESTIONS} questions`,
    )
    .optional(),
  leases: z.array(Lease),
  /** Positions that were requested by step or by position and whose items are not issued yet. */
  requested: z.array(Position).max(MAX_REQUESTED),
  issued: IssuedItems,
  steps: z.array(Step),
})

/** What is in the lists of one task is oldest first. Of the fields, the API document shows only `version`. */
export const Checkpoint = z
  .strictObject({
    version: z.literal(CHECKPOINT_VERSION).describe('Version of the checkpoint format.'),
    /** Version of the library. Another version makes other items. */
    engine: z.string(),
    run: RunName,
    /** ISO 8601. */
    created_at: z.string(),
    /** Explicit settings. All others have their defaults. */
    settings: SettingsChange,
    /** Fields that end in `_at` are Unix times in milliseconds. */
    counters: Counters,
    curriculum: z.record(TaskName, Curriculum),
    /** Shares of correct rollouts in the last groups of each task. */
    recent_accuracies: z.record(TaskName, z.array(Accuracy).max(50)),
    learnability: z.record(TaskName, z.array(Learnability).max(50)).optional(),
    tasks: z.record(TaskName, sumsRecord.checkpointSchema),
    /** Groups that moved the curriculum, oldest first. */
    curriculum_history: z.array(CurriculumPoint),
    sequence: Sequence,
    /** The last mixes of tasks, oldest first. */
    mixes: z.array(RunMix).max(MAX_MIXES),
    /** The last marks for charts, oldest first. */
    marks: z.array(RunMark).max(MAX_MARKS).optional(),
    /** Statistics of each training step, oldest first. */
    step_sums: z.array(z.strictObject({ step: z.int().min(0), sums: sumsRecord.checkpointSchema })).max(MAX_STEP_SUMS),
    /** Statistics of blocks of groups that belong to no step, by the number of the first group, oldest first. */
    block_sums: z
      .array(z.strictObject({ first_group: z.int().min(1), sums: sumsRecord.checkpointSchema }))
      .max(MAX_STEP_SUMS)
      .optional(),
  })
  .meta({
    id: 'Checkpoint',
    'x-opaque': true,
    description:
      'State of a run: settings, curriculum, statistics and item sequence. Treat it as opaque: store it and send it back unchanged.',
  })
export type Checkpoint = z.infer<typeof Checkpoint>

/** The lists of a document that may be long, and their limits. */
export const LONG_LISTS = [
  { path: ['curriculum_history'], isRecord: false, max: Number.POSITIVE_INFINITY },
  { path: ['sequence', 'leases'], isRecord: false, max: Number.POSITIVE_INFINITY },
  { path: ['sequence', 'requested'], isRecord: false, max: MAX_REQUESTED },
  { path: ['sequence', 'questions'], isRecord: true, max: MAX_QUESTIONS },
  { path: ['sequence', 'issued', 'chunks'], isRecord: false, max: MAX_CHUNKS },
  { path: ['sequence', 'steps'], isRecord: false, max: Number.POSITIVE_INFINITY },
  { path: ['step_sums'], isRecord: false, max: MAX_STEP_SUMS },
  { path: ['block_sums'], isRecord: false, max: MAX_STEP_SUMS },
] as const

export const DiscardedCounts = z
  .strictObject({
    queued_groups: z.int().describe('Number of groups that waited to be scored.'),
    buffered_groups: z.int().describe('Number of buffered groups.'),
    open_groups: z.int().describe('Number of items whose single samples were being gathered into groups.'),
    open_batches: z.int().describe('Number of batches that were not acknowledged.'),
    prepared_items: z.int().describe('Number of items that were made in advance.'),
    remembered_groups: z.int().describe('Number of completed groups that were kept for inspection.'),
  })
  .meta({ id: 'DiscardedCounts', description: 'What the run had and a restored checkpoint discarded.' })
export type DiscardedCounts = z.infer<typeof DiscardedCounts>
