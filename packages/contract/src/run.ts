/** A training run: the state that its nodes share, what its groups show about the policy, and its metrics. */
import { z } from 'zod'
import { Count, CountByName, JsonObject, NullableNumber, NullableText } from './common.ts'
import { DumpProgress } from './dump.ts'
import { TaskName } from './recipe.ts'
import { RunName } from './rollout.ts'
import { ForkOrigin, RunLifecycle } from './run-control.ts'

export const Diagnosis = z
  .strictObject({
    groups: Count.describe('Number of scored groups in the window, at most 50.'),
    questions: Count.describe(
      'Number of different questions in the window. `answer_entropy` and `top_answer` count each of them once.',
    ),
    answer_entropy: NullableNumber.describe(
      'Entropy of the answers over different questions, in bits; 0 means the same answer to all questions. null without answers.',
    ),
    group_entropy: NullableNumber.describe(
      'Mean entropy of the answers within a group, in bits; null without answers.',
    ),
    top_answer: z
      .strictObject({
        text: z.string().describe('First 28 bytes of the answer.'),
        share: z.number().describe('Share of the answers, in [0, 1].'),
      })
      .meta({ id: 'TopAnswer', description: 'Most common answer and its share.' })
      .nullable()
      .describe('Most common answer over different questions; null without answers.'),
    constant_groups: NullableNumber.describe(
      'Share of groups in which all rollouts give the same answer; null without groups.',
    ),
    mean_score: NullableNumber.describe('Mean score of these groups; null without groups.'),
    guess_floor: NullableNumber.describe(
      'Mean score that guessing earns at the difficulties of these groups; null without a task card.',
    ),
    lift: NullableNumber.describe(
      'Floor-corrected mean score, (mean_score − guess_floor) / (1 − guess_floor), at least −1: 0 for guessing, 1 if all answers are correct. null without a guess floor.',
    ),
    lift_stderr: NullableNumber.describe(
      'Standard error of `lift`, over groups; null without a guess floor or with fewer than two groups.',
    ),
    hack_gap: NullableNumber.describe(
      'Mean of upstream score minus hardened score over a sample of answers: the part of the score that only reward hacks earn. null without a sample.',
    ),
    hack_gap_answers: Count.describe('Number of answers in the sample of `hack_gap`.'),
    permuted_score: NullableNumber.describe(
      'Mean score of a sample of answers on another item of the same task: what answers earn without reading the question. null without a sample.',
    ),
    permuted_answers: Count.describe('Number of answers in the sample of `permuted_score`.'),
  })
  .meta({
    id: 'Diagnosis',
    description:
      'What the most recent groups show about the policy: whether it reads the question and earns its reward.',
  })
export type Diagnosis = z.infer<typeof Diagnosis>

export const RunWarning = z
  .strictObject({
    kind: z
      .enum([
        'collapsed',
        'hack_gap',
        'permuted',
        'signal_without_lift',
        'format_loss',
        'length_growth',
        'substituted_rewards',
        'group_size',
      ])
      .describe(
        '`collapsed`: most answers to different questions are the same; `hack_gap`: upstream scoring rewards answers that hardened scoring rejects; `permuted`: answers also score on other items; `signal_without_lift`: scores are those of guesses; `format_loss`: fewer answers have the right format; `length_growth`: completions are several times as long as before at the same difficulty; `substituted_rewards`: more than 1% of the samples could not be scored, and the trainer got numbers in their place; `group_size`: the trainer does not send `group_size` samples for each item.',
      ),
    task: TaskName.nullable().describe('Task; null for `substituted_rewards` and `group_size`.'),
    why: z.string().describe('Explanation in one sentence.'),
  })
  .meta({
    id: 'RunWarning',
    description:
      'A task whose reward may not be earned by solving it or whose completions degenerate, substitute rewards, or groups of a wrong size.',
  })
export type RunWarning = z.infer<typeof RunWarning>

/** Progress toward the next batch, in rollouts. */
export const BatchProgress = z
  .strictObject({
    step: Count.describe('Step after the latest one that has a batch.'),
    wanted: Count.describe('Rollouts that the batch needs.'),
    buffered: Count.describe('Rollouts that are scored and buffered.'),
    queued: Count.describe('Rollouts that wait to be scored.'),
    missing: Count.describe('Rollouts that are neither buffered nor queued yet.'),
  })
  .meta({ id: 'BatchProgress', description: 'Progress toward the next batch of a run, in rollouts.' })
export type BatchProgress = z.infer<typeof BatchProgress>

/** Whether a run makes progress, and if not, why. */
export const RunState = z
  .strictObject({
    is: z
      .enum([
        'flowing',
        'idle',
        'finished',
        'starved_of_rollouts',
        'no_signal',
        'all_stale',
        'buffer_full',
        'trainer_silent',
        'engine_down',
        'recreated',
        'suspicious',
      ])
      .describe(
        '`flowing`: the run makes progress; `idle`: no rollouts arrive and no trainer waits for them; `finished`: the run was marked finished or archived. The other values name what holds it up or looks wrong.',
      ),
    since: z.string().describe('Time at which this state began, ISO 8601.'),
    why: z.string().describe('Explanation of the state, in one sentence.'),
  })
  .meta({ id: 'RunState', description: 'Whether a run makes progress, and if not, why.' })
export type RunState = z.infer<typeof RunState>

/** Estimate of `complexity_mode: "frontier"`: where the model is on the ladder of a task. */
export const FrontierEstimate = z
  .strictObject({
    place: z
      .number()
      .describe('Difficulty at which the model solves half of the items beyond guessing. It can lie outside [0, 1].'),
    interval: z.array(z.number()).length(2).describe('90% interval of `place`: `[low, high]`.'),
    slope: z
      .number()
      .describe(
        'Steepness at which success falls at `place`, in log-odds per unit of difficulty: q = 1 / (1 + exp(−slope × (place − difficulty))). Negative if the model is better on harder rungs.',
      ),
    cap: z
      .number()
      .describe('Share of the answers in the right format that can be correct without guessing, in (0, 1].'),
    floor: z
      .number()
      .describe(
        'Mean score that guessing earns on the current rung: answers in the right format are correct with probability floor + (1 − floor) × cap × q, with q as in `slope`.',
      ),
  })
  .meta({
    id: 'FrontierEstimate',
    description: 'Where `complexity_mode: "frontier"` estimates the model to be on the ladder of a task.',
  })
export type FrontierEstimate = z.infer<typeof FrontierEstimate>

const { place, interval, slope, cap, floor } = FrontierEstimate.shape
const orNull = (description = '') => `${description} null in other modes, and until the first group has counted.`
const FrontierFields = {
  place: place.nullable().describe(orNull(place.description)),
  interval: interval.nullable().describe(orNull(interval.description)),
  slope: slope.nullable().describe(orNull(slope.description)),
  cap: cap.nullable().describe(orNull(cap.description)),
  floor: floor.nullable().describe(orNull(floor.description)),
}

const RunProgress = z
  .strictObject({
    items: Count.describe('Number of items handed out.'),
    groups: Count.describe('Number of groups accepted.'),
    rollouts: Count.describe('Number of rollouts accepted.'),
    scored_groups: Count.describe('Number of groups in which at least one rollout was scored.'),
    failed_groups: Count.describe('Number of groups in which no rollout could be scored.'),
    queued_groups: Count.describe('Number of groups that wait to be scored.'),
    open_groups: Count.describe('Number of open groups, which are still collecting samples.'),
    buffered_groups: Count.describe('Number of scored groups that wait for a batch.'),
    step: Count.nullable().describe('Latest step that has a batch or, without batches, that the trainer has named.'),
    stale_groups: Count.describe('Number of groups dropped for their policy lag (`max_policy_lag`).'),
    no_signal: z
      .strictObject({
        easy: Count.describe('Groups in which all voters have the same reward and the mean score is at least 0.5.'),
        hard: Count.describe('Groups in which all voters have the same reward and the mean score is below 0.5.'),
        masked: Count.describe('Groups without voters, because their rollouts were truncated and masked.'),
        lone_voter: Count.describe(
          'Groups with a single voter left; the other rollouts are masked, skipped or unscored. A group posted with one rollout is not among them: it has signal.',
        ),
      })
      .describe(
        'Number of scored groups without training signal, by reason, whether or not `drop_equal_scores` drops them. Groups whose rollouts are all skipped are not included.',
      ),
    faults: CountByName.describe('Number of rollouts with a format fault, by fault.'),
    unscored: Count.describe('Number of unscored rollouts.'),
    substituted_rewards: Count.describe(
      'Number of rewards that the server sent for unscored samples, to trainers that need a number.',
    ),
    dumps: DumpProgress,
    skipped_positions: Count.describe('Number of positions of the item sequence that gave no item.'),
    skipped_reasons: z
      .strictObject({
        failed: Count.describe('Positions whose item could not be made in two attempts.'),
        eval_item: Count.describe('Positions at which all 16 seeds give a question of a frozen suite.'),
      })
      .describe('Number of skipped positions, by reason.'),
    passed_over_seeds: z
      .strictObject({
        eval_item: Count.describe('Seeds whose question is in a frozen suite.'),
        repeat: Count.describe('Seeds whose question was asked before.'),
        no_right_answer: Count.describe('Seeds whose item has no right answer.'),
      })
      .describe('Number of seeds that were replaced by the next seed of their position, by reason.'),
    repeated_items: Count.describe(
      'Number of items whose question was asked before, because none of the 16 seeds gives a new one.',
    ),
  })
  .meta({ id: 'RunProgress', description: 'Counts since the run began.' })

const RunTask = z
  .strictObject({
    difficulty: NullableNumber.describe('Current difficulty of the task; null until the curriculum has moved it.'),
    ...FrontierFields,
    accuracy: NullableNumber.describe(
      'Mean score of the last five groups that fed the curriculum. Without a curriculum: share of correct rollouts in the last ten groups.',
    ),
    learnability: z
      .number()
      .describe(
        'Mean variance of scores within the task’s recent groups, corrected for guessing. `sampling: "learnability"` draws tasks by it.',
      ),
    groups: Count.describe('Number of scored groups.'),
    rollouts: Count.describe('Number of rollouts with a score.'),
    skipped: Count.describe('Number of scored rollouts with fewer than `min_trained_tokens` trained tokens.'),
    mean_score: NullableNumber.describe(
      'Mean score of the rollouts that are scored and not skipped; null before the first.',
    ),
    mean_reward: NullableNumber.describe(
      'Mean reward of all scored rollouts, including skipped and masked ones; null before the first. (The `mean_reward` of a group covers its voters only.)',
    ),
    signal: Count.describe('Number of groups that carried training signal.'),
    faults: CountByName.describe('Number of rollouts with a format fault, by fault.'),
    truncated: Count.describe('Number of rollouts cut off at the token limit.'),
    length_p95: NullableNumber.describe(
      '95th percentile of rollout length, in tokens; null without lengths. It is the upper edge of a bucket and can be up to 5% too high.',
    ),
    last_at: NullableText.describe(
      'Time at which the task’s latest group was scored, ISO 8601; null before the first.',
    ),
    diagnosis: Diagnosis.describe('Diagnosis of the last 50 groups of the task.'),
  })
  .meta({ id: 'RunTask', description: 'State and statistics of one task of the run.' })

export const Run = z
  .strictObject({
    run: RunName,
    incarnation: z
      .string()
      .describe(
        'ID that distinguishes this run from earlier and later runs of the same name; also the `ETag`. Changed settings, restarts and restored checkpoints keep it.',
      ),
    state: RunState,
    lifecycle: RunLifecycle,
    settings: JsonObject.describe('All settings in effect, including defaults (see `RunSettings`).'),
    progress: RunProgress,
    batch: BatchProgress,
    diagnosis: Diagnosis.describe(
      'Diagnosis of the last 50 groups of all tasks together. Restoring a checkpoint empties the window.',
    ),
    warnings: z
      .array(RunWarning)
      .describe(
        'Tasks whose recent groups suggest that the reward is not earned by solving the task, substitute rewards, and groups of a wrong size.',
      ),
    skipped: z
      .array(
        z
          .strictObject({
            position: Count.describe('Position in the item sequence, counted from 0.'),
            task: z.string().describe('Name of the task.'),
            seed: Count.describe('Seed of the item.'),
            difficulty: NullableNumber.describe('Difficulty of the item; null for library defaults or a config.'),
            reason: z
              .enum(['failed', 'eval_item'])
              .describe('`failed`: the item could not be made; `eval_item`: its questions are in a frozen suite.'),
            detail: z.string().describe('Explanation in a sentence.'),
            time: z.string().describe('Time at which the position was skipped, ISO 8601.'),
          })
          .meta({ id: 'SkippedPosition', description: 'A skipped position of the item sequence.' }),
      )
      .describe('Most recently skipped positions, newest first.'),
    forked_from: ForkOrigin.nullable().describe('Where the run was forked from; null if it was not forked.'),
    forks: z.array(RunName).describe('Runs that were forked from this one, oldest first.'),
    tasks: z.record(z.string(), RunTask).describe('State and statistics of each task, by task name.'),
  })
  .meta({ id: 'Run', description: 'A training run: its settings, progress and per-task statistics.' })
export type Run = z.infer<typeof Run>

const SUMMARY_COUNTS = {
  items: true,
  groups: true,
  rollouts: true,
  scored_groups: true,
  failed_groups: true,
  queued_groups: true,
  open_groups: true,
  buffered_groups: true,
  step: true,
} as const

/** What lists show of a run. It has the same size however many tasks and settings the run has. */
export const RunSummary = z
  .strictObject({
    run: RunName,
    incarnation: Run.shape.incarnation,
    state: RunState,
    lifecycle: RunLifecycle,
    preset: z.string().describe('Preset that the settings start from.'),
    progress: RunProgress.pick(SUMMARY_COUNTS).meta({
      id: 'RunSummaryProgress',
      description: 'Counts since the run began.',
    }),
    tasks: z.array(TaskName).describe('Tasks of which groups are scored, sorted by name.'),
    tags: z.array(z.string()).describe('Tags of the run, from its settings.'),
    mean_reward: NullableNumber.describe('Mean reward of the scored rollouts of all tasks; null before the first.'),
    recent_reward: NullableNumber.describe(
      'Mean reward of the scored rollouts of the last 10 steps; null before the first. A run without steps has blocks of groups in their place.',
    ),
    last_scored_at: NullableText.describe(
      'Time at which the latest group was scored, ISO 8601; null before the first.',
    ),
    warnings: Count.describe('Number of warnings, whatever the state.'),
    warning: RunWarning.nullable().describe('The most useful warning; null if there is none.'),
  })
  .meta({ id: 'RunSummary', description: 'A training run in a list. `GET /runs/{run}` has everything about it.' })
export type RunSummary = z.infer<typeof RunSummary>

export const RunOrder = z.enum(['name', 'activity']).meta({
  id: 'RunOrder',
  description: '`name`: in the order of the names; `activity`: most recently used first, to half a minute.',
})
export type RunOrder = z.infer<typeof RunOrder>

export const RunPage = z
  .strictObject({
    runs: z.array(RunSummary).describe('Runs that the caller may see, in the order of `sort`.'),
    next_cursor: NullableText.describe('Value of `cursor` for the next page; null on the last page.'),
    total: Count.describe('Number of runs on all pages, before `state` and `has_warnings` select among them.'),
  })
  .meta({ id: 'RunPage', description: 'Runs that the caller may see, page by page.' })
export type RunPage = z.infer<typeof RunPage>

/** A group that fed the curriculum, and the level of its task afterward. Replaying the scores in order gives the levels. */
export const CurriculumPoint = z
  .strictObject({
    time: z.string().describe('Time at which the group counted, ISO 8601.'),
    step: z.int().describe('Trainer step at that time.'),
    task: z.string().describe('Name of the task.'),
    score: z.number().describe('Mean score of the group, before penalties.'),
    difficulty: z.number().describe('Difficulty of the task after this group.'),
    accuracy: z.number().describe('Mean score of the last five groups of the task.'),
    item: z
      .strictObject({
        difficulty: z.number().describe('Difficulty of the group’s item.'),
        floor: z.number().describe('Mean score that guessing earns at this difficulty.'),
        rollouts: z.int().min(1).describe('Number of rollouts behind the mean score.'),
        formatted: z.number().describe('Share of these rollouts that have an answer in the right format.'),
      })
      .optional()
      .describe('The group’s item, as the `frontier` estimate uses it; absent in other modes.'),
    ...FrontierEstimate.partial().shape,
  })
  .meta({
    id: 'CurriculumPoint',
    description: 'A group that moved the curriculum, and the difficulty of its task afterward.',
  })
export type CurriculumPoint = z.infer<typeof CurriculumPoint>

export type RunCondition = 'exists' | readonly string[]

export const TaskMetric = z
  .enum(['reward', 'score', 'accuracy', 'difficulty'])
  .meta({ id: 'TaskMetric', description: 'Mean reward, mean score, share of correct rollouts, or mean difficulty.' })
export type TaskMetric = z.infer<typeof TaskMetric>

export const TaskMetrics = z
  .strictObject({
    metric: TaskMetric.describe('Metric of the cells.'),
    columns: z
      .array(
        z
          .strictObject({
            step: z.number().optional().describe('Last step of the column.'),
            first_step: z.number().optional().describe('First step that the column spans.'),
            width: z.number().optional().describe('Number of steps, or of groups, that the column spans.'),
            time: z.number().optional().describe('Unix time of the last group in seconds.'),
            first_group: z.number().optional().describe('Number of the first group, if the run has no steps.'),
            groups: z.number().describe('Number of groups.'),
          })
          .describe('Range of steps, or of groups.'),
      )
      .describe('Columns, oldest first.'),
    tasks: z
      .record(z.string(), z.array(NullableNumber))
      .describe('Value of each task in each column; null without data.'),
  })
  .meta({ id: 'TaskMetrics', description: 'A metric of each task over training.' })
export type TaskMetrics = z.infer<typeof TaskMetrics>
