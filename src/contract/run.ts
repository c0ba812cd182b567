/** One training run: its settings and what its nodes share. */
import { z } from 'zod'
import { Diagnosis, RunWarning } from './diagnosis.ts'
import { DumpProgress } from './dump.ts'
import { EvalId } from './eval.ts'
import { Config, Difficulty, TaskName } from './recipe.ts'
import { RunName } from './rollout.ts'
import { Extraction, ScoringMode } from './verdict.ts'

const DEFAULT_SYSTEM_PROMPT = `You solve reasoning problems. Work through the problem step by step inside <think> and </think> before you reply.
Then give the final answer, and nothing else, between one pair of <answer> and </answer> tags, like this: <answer>42</answer>
Use the answer tags exactly once, after your thinking, and follow any output format that the question asks for. An answer outside the tags is not counted.`

export const TaskOrCategory = z
  .union([TaskName, z.string().regex(/^category:[a-z]+$/, '`category:` and a category')])
  .meta({ id: 'TaskOrCategory' })

/** From low to high. An array of two for the document: few readers of it know tuples. */
const DifficultyRange = z
  .array(Difficulty)
  .length(2)
  .refine(([low = 0, high = 0]) => low <= high, 'from low to high') as unknown as z.ZodType<[number, number]> // as its length says

/** A task of a run with what is special about it; `config` takes it off the ladder. */
const WeightedTask = z
  .strictObject({
    task: TaskOrCategory,
    weight: z.number().min(0).max(1e6).default(1).describe('How often, relative to the others'),
    config: Config.optional(),
    difficulty: z
      .union([Difficulty, DifficultyRange])
      .optional()
      .describe('A fixed difficulty, or the range for random and curriculum'),
    target_accuracy: z.number().min(0).max(1).optional(),
  })
  .refine(({ config, difficulty }) => config === undefined || difficulty === undefined, {
    path: ['difficulty'],
    message: 'excludes config',
  })
  .meta({ id: 'WeightedTask' })

const TaskSelection = z
  .union([
    z.literal('all'),
    z
      .array(z.union([TaskOrCategory, WeightedTask]))
      .min(1)
      .max(512),
  ])
  .meta({ id: 'TaskSelection' })

/** Every task whose questions, templates or generator are those of a published benchmark. */
export const PUBLIC_BENCHMARKS = 'public_benchmarks'

const TaskExclusion = z
  .array(z.union([z.literal(PUBLIC_BENCHMARKS), TaskOrCategory]))
  .max(512)
  .meta({ id: 'TaskExclusion' })

const DapoLengthPenalty = z
  .strictObject({
    kind: z.literal('dapo'),
    buffer: z.int().min(1).default(4096),
    factor: z.number().min(0).default(1),
  })
  .meta({ id: 'DapoLengthPenalty' })

/** Every setting of a run and its default; a test holds the README's table to it. */
export const RunSettings = z
  .strictObject({
    preset: z
      .enum(['original', 'clean'])
      .default('original')
      .describe('The defaults of the other settings: as in the original environment, or what we recommend instead'),
    seed: z
      .int()
      .min(0)
      .max(2 ** 32 - 1)
      .default(42)
      .describe(
        'Decides the items: runs of equal settings and seed get equal items in equal order, whatever their names',
      ),
    tasks: TaskSelection.default('all').describe('`all`, or names, `category:games` and `{ task, weight, config, … }`'),
    exclude: TaskExclusion.default([]).describe(
      'Tasks that `all` and categories leave out: names, `category:games`, `public_benchmarks`. A task that `tasks` names stays',
    ),
    sampling: z
      .enum(['weights', 'learnability'])
      .default('weights')
      .describe(
        '`learnability`: by weight × variance of scores within groups, without what guessing adds; each task gets at least 5 % of the share that its weight alone would give it',
      ),
    group_size: z.int().min(1).max(1024).default(16).describe('Rollouts per item'),
    batch_size: z.int().min(1).max(1_000_000).default(128).describe('Rollouts per batch, at least'),
    exclude_eval_items: z
      .boolean()
      .default(false)
      .describe('Never hand out a question that a frozen suite contains: the position tries its other seeds'),
    avoid_repeated_items: z
      .boolean()
      .default(false)
      .describe('No question twice within 131,072 items, as long as one of 16 seeds gives one that was not asked'),
    complexity_mode: z
      .enum(['none', 'fixed', 'random', 'curriculum', 'frontier'])
      .default('none')
      .describe(
        '`none`: the library’s defaults; `fixed`: at `difficulty`; `random`; `curriculum`: follows the model by the original’s rule; `frontier`: asks for the rung with the most signal above its guess floor',
      ),
    difficulty: Difficulty.default(0).describe('Of `fixed`'),
    curriculum_target_accuracy: z
      .number()
      .min(0)
      .max(1)
      .default(0.7)
      .describe(
        'Where `curriculum` settles. If it is set, `frontier` asks for the rung whose success above the guess floor is nearest to it',
      ),
    curriculum_start: z
      .strictObject({ eval: EvalId })
      .nullable()
      .default(null)
      .describe(
        'With `frontier`: `{ "eval": ID }` starts each task at the place that this eval measured; null: near the middle of the ladder',
      ),
    max_token_length: z.int().min(1).default(16384).describe('M of the length penalty'),
    extraction: Extraction.default('strict').describe('How the answer is read from a completion'),
    dual_format: z.boolean().default(true).describe('Score the answer bare and in tags; the higher counts'),
    scoring: ScoringMode.default('upstream').describe('`upstream`: the library’s score; `hardened`: its holes closed'),
    length_penalty: z
      .union([z.boolean(), DapoLengthPenalty])
      .default(true)
      .describe('The original’s; false; or `{ kind: "dapo", buffer, factor }`'),
    mask_too_long_completions: z.boolean().default(true).describe('`finish_reason: length` carries no signal'),
    min_trained_tokens: z.int().min(0).default(10).describe('A rollout with fewer is skipped by name'),
    advantage: z
      .enum(['mean', 'mean_std', 'leave_one_out', 'none'])
      .default('mean')
      .describe(
        '`mean`: reward − mean; `mean_std`: that, divided by the standard deviation; `leave_one_out`: reward − mean of the others; `none`: the reward. Of the only rollout of a group, its reward; of a voter that is left alone in a larger group, 0',
      ),
    drop_equal_scores: z
      .boolean()
      .default(true)
      .describe('Groups without signal are counted, not buffered; false: counted and buffered'),
    signal_on: z.enum(['reward', 'score']).default('reward').describe('`score` ignores penalties'),
    unscored_rollouts: z
      .enum(['omit', 'mask'])
      .default('omit')
      .describe('In batches: left out, or present with reward null and advantage 0'),
    buffer: z.boolean().default(true).describe('Whether scored groups wait for a trainer'),
    buffer_open_groups: z
      .boolean()
      .default(false)
      .describe(
        'Whether groups gathered from single samples also go into the buffer for batches; needs `buffer`. If the buffer stays full for `open_group_timeout_s`, they count without it',
      ),
    buffer_max_groups: z.int().min(1).max(1_000_000).default(4096).describe('Queued and buffered groups, at most'),
    keep_groups: z.int().min(1).max(1_000_000).default(10_000).describe('Groups that can still be looked at'),
    max_policy_lag: z
      .int()
      .min(0)
      .nullable()
      .default(null)
      .describe('Older groups are dropped when a batch is composed'),
    max_groups_ahead: z
      .int()
      .min(1)
      .max(1_000_000)
      .nullable()
      .default(null)
      .describe('Groups handed out, queued or buffered, at most: binds POST /items without a step'),
    item_lease_s: z
      .number()
      .min(1)
      .max(7 * 86_400)
      .default(3600)
      .describe('Seconds after which an item without its group is handed out again'),
    open_group_timeout_s: z
      .number()
      .min(1)
      .max(7 * 86_400)
      .default(600)
      .describe(
        'Seconds since its latest sample after which an open group is closed with fewer than `group_size` samples',
      ),
    dump_rollouts: z
      .union([z.boolean(), z.literal('all')])
      .default(false)
      .describe('Write groups with a reward above the threshold to files; `all`: every scored group'),
    dump_failed_rollouts: z.boolean().default(false).describe('Write groups whose every score is 0 to files'),
    rollout_save_score_threshold: z
      .number()
      .min(0)
      .max(1)
      .default(0.7)
      .describe('What a reward of a dumped group is above'),
    debug_logging: z.boolean().default(false).describe('Log each extraction, reading and choice of this run'),
    suppress_base_env_logs: z
      .boolean()
      .default(true)
      .describe('Leave request and queue chatter of this run out of the log'),
    system_prompt: z.string().max(100_000).nullable().default(DEFAULT_SYSTEM_PROMPT).describe('null: none'),
    system_prompt_role: z.enum(['system', 'user']).default('system').describe('`user` puts it before the question'),
    num_eval_samples_per_task: z.int().min(1).max(1000).default(5).describe('Items a task of the run’s own suite'),
    eval_seed: z
      .int()
      .min(0)
      .max(2 ** 30 - 1)
      .default(123)
      .describe('Seed of the run’s own suite'),
  })
  .meta({ id: 'RunSettings' })
export type RunSettings = z.infer<typeof RunSettings>

/** What a PUT names: omitted settings keep their value, null restores the default. */
export const SettingsChange = z
  .strictObject(
    Object.fromEntries(
      Object.entries(RunSettings.shape).map(([name, schema]) => [
        name,
        schema
          .removeDefault()
          .nullable()
          .optional()
          .describe(schema.description ?? ''), // lost with the default
      ]),
    ) as unknown as { [K in keyof RunSettings]: z.ZodOptional<z.ZodNullable<z.ZodType<RunSettings[K]>>> }, // the same keys, one by one
  )
  .meta({ id: 'SettingsChange' })
export type SettingsChange = z.infer<typeof SettingsChange>

const Count = z.int().min(0)

/** The next batch in the making, in rollouts. */
export const BatchProgress = z
  .strictObject({
    step: Count.describe('The step after the latest that a batch was composed for'),
    wanted: Count,
    buffered: Count,
    queued: Count,
    missing: Count,
  })
  .meta({ id: 'BatchProgress' })
export type BatchProgress = z.infer<typeof BatchProgress>

/** Why a run stalls, or that it does not. */
export const RunState = z
  .strictObject({
    is: z.enum([
      'flowing',
      'starved_of_rollouts',
      'no_signal',
      'all_stale',
      'buffer_full',
      'trainer_silent',
      'engine_down',
      'recreated',
      'suspicious',
    ]),
    since: z.string().describe('ISO 8601'),
    why: z.string().describe('One sentence'),
  })
  .meta({ id: 'RunState' })
export type RunState = z.infer<typeof RunState>

/** Where `complexity_mode: "frontier"` sees the model on the ladder of a task. */
export const FrontierEstimate = z
  .strictObject({
    place: z
      .number()
      .describe(
        'The difficulty at which the model solves half of the items beyond guessing; it may lie off the ladder',
      ),
    interval: z.array(z.number()).length(2).describe('The place lies between these with a probability of 90 %'),
    slope: z.number().describe('How steeply success falls there: q = 1 / (1 + exp(−slope × (place − difficulty)))'),
    floor: z.number().describe('What guessing earns on the rung that is asked for: success = floor + (1 − floor) × q'),
  })
  .meta({ id: 'FrontierEstimate' })
export type FrontierEstimate = z.infer<typeof FrontierEstimate>

const { place, interval, slope, floor } = FrontierEstimate.shape
/** Of a task of a run: null until a group has counted, and in other modes. */
const FrontierFields = {
  place: place.nullable().describe(place.description ?? ''),
  interval: interval.nullable().describe(interval.description ?? ''),
  slope: slope.nullable().describe(slope.description ?? ''),
  floor: floor.nullable().describe(floor.description ?? ''),
}

export const Run = z
  .strictObject({
    run: RunName,
    incarnation: z
      .string()
      .describe(
        'Tells this run from others that had or will have its name; the `ETag` too. Settings, restarts and restored checkpoints keep it',
      ),
    state: RunState,
    settings: z.looseObject({}).describe('Every setting, with its default where none was named'),
    progress: z.strictObject({
      items: Count.describe('Items handed out'),
      groups: Count,
      rollouts: Count,
      scored_groups: Count,
      failed_groups: Count,
      queued_groups: Count,
      open_groups: Count.describe('Items whose samples adapters are gathering into groups'),
      buffered_groups: Count,
      step: Count.nullable().describe('The latest step that a batch was composed for'),
      stale_groups: Count.describe('Dropped for their policy lag when a batch was composed'),
      no_signal: z
        .strictObject({
          easy: Count.describe('All voters have one reward, and the mean score is at least 0.5'),
          hard: Count.describe('All voters have one reward, and the mean score is below 0.5'),
          masked: Count.describe('No voters: the rollouts that count are truncated and masked'),
          lone_voter: Count.describe(
            'One voter is left, the others are masked, skipped or unscored; a group posted with one rollout has signal',
          ),
        })
        .describe(
          'Scored groups without signal, whether or not `drop_equal_scores` drops them; groups that are skipped whole are not among them',
        ),
      faults: z.record(z.string(), Count),
      unscored: Count,
      dumps: DumpProgress,
      skipped_positions: Count.describe('Positions of the sequence that gave no item'),
      skipped_reasons: z
        .strictObject({ failed: Count, eval_item: Count })
        .describe(
          '`failed`: the item could not be made, twice; `eval_item`: each of 16 seeds gives a question of a frozen suite',
        ),
      passed_over_seeds: z
        .strictObject({ eval_item: Count, repeat: Count })
        .describe(
          'Seeds that gave way to the next one of their position: the question stands in a frozen suite, or was asked before',
        ),
      repeated_items: Count.describe('Items whose question was asked before: none of 16 seeds gives another'),
    }),
    batch: BatchProgress,
    diagnosis: Diagnosis.describe(
      'The last 50 groups of all tasks together; the windows begin anew with a restored checkpoint',
    ),
    warnings: z
      .array(RunWarning)
      .describe('Tasks whose reward is not earned by solving them, as far as their last groups show'),
    skipped: z
      .array(
        z.strictObject({
          position: Count,
          task: z.string(),
          seed: Count,
          difficulty: z.number().nullable(),
          reason: z.enum(['failed', 'eval_item']),
          detail: z.string(),
          time: z.string(),
        }),
      )
      .describe('The last of the skipped positions, newest first'),
    tasks: z.record(
      z.string(),
      z.strictObject({
        difficulty: z.number().nullable().describe('Where the curriculum stands; null before it has moved'),
        ...FrontierFields,
        accuracy: z
          .number()
          .nullable()
          .describe(
            'Mean score of the last five groups that fed the curriculum; without one, share right in the last ten',
          ),
        learnability: z
          .number()
          .describe(
            'How much the scores of one item’s rollouts vary beyond luck: the mean variance within its last groups, without what guessing adds. `sampling: "learnability"` draws tasks by it',
          ),
        groups: Count.describe('Scored groups'),
        rollouts: Count.describe('Rollouts with a score'),
        skipped: Count.describe('Those of them with fewer than `min_trained_tokens`'),
        mean_score: z
          .number()
          .nullable()
          .describe('Over the rollouts with a score that are not skipped: a group’s `mean_score`, over all groups'),
        mean_reward: z
          .number()
          .nullable()
          .describe(
            'Over all rollouts with a score, skipped and masked ones too; a group’s `mean_reward` is of its voters',
          ),
        signal: Count.describe('Groups that carried signal'),
        faults: z.record(z.string(), Count),
        truncated: Count.describe('Rollouts that were cut by the token limit'),
        length_p95: z
          .number()
          .nullable()
          .describe('Tokens that 95 % of the rollouts do not exceed: the upper edge of a bucket, up to 5 % too many'),
        last_at: z.string().nullable().describe('When its last group was scored'),
        diagnosis: Diagnosis.describe('Its last 50 groups'),
      }),
    ),
  })
  .meta({ id: 'Run' })
export type Run = z.infer<typeof Run>

const PRESETS: Record<RunSettings['preset'], SettingsChange> = {
  original: {},
  clean: {
    dual_format: false,
    min_trained_tokens: 1,
    length_penalty: false,
    extraction: 'last_tag',
    scoring: 'hardened',
    signal_on: 'score',
    complexity_mode: 'frontier',
    exclude_eval_items: true,
    avoid_repeated_items: true,
  },
}

/** The settings in force: what was named, over the preset's, over the defaults. */
export function resolveSettings(named: SettingsChange): RunSettings {
  return RunSettings.parse({ ...PRESETS[named.preset ?? 'original'], ...named })
}

/** A group that fed the curriculum, and where its task stood after it. Replayed in order, the scores give the levels. */
export const CurriculumPoint = z
  .strictObject({
    time: z.string().describe('ISO 8601'),
    step: z.int().describe('The trainer’s step at that time'),
    task: z.string(),
    score: z.number().describe('The group’s mean score before any penalty'),
    difficulty: z.number().describe('The level after the group'),
    accuracy: z.number().describe('Mean of the last five scores'),
    item: z
      .strictObject({
        difficulty: z.number().describe('What the group’s item was asked for at'),
        floor: z.number().describe('What guessing earns there'),
        rollouts: z.int().min(1).describe('Whose mean score it is'),
      })
      .optional()
      .describe('Under `frontier`: where the group counts'),
    ...FrontierEstimate.partial().shape,
  })
  .meta({ id: 'CurriculumPoint' })
export type CurriculumPoint = z.infer<typeof CurriculumPoint>
