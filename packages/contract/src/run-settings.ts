/** The settings of a training run, their presets, and changes of them. */
import { z } from 'zod'
import { Count, Share } from './common.ts'
import { EvalId } from './eval.ts'
import { Config, Difficulty, TaskName } from './recipe.ts'
import { Extraction, FeedbackLevel, MAX_TRIES, OpensThinking, RetryPrompt, ScoringMode, Stop } from './verdict.ts'

const Flag = z.boolean()
const UpToAMillion = z.int().min(1).max(1_000_000)
/** In seconds. */
const UpToAWeek = z
  .number()
  .min(1)
  .max(7 * 86_400)

const DEFAULT_SYSTEM_PROMPT = `You solve reasoning problems. Work through the problem step by step inside <think> and </think> before you reply.
Then give the final answer, and nothing else, between one pair of <answer> and </answer> tags, like this: <answer>42</answer>
Use the answer tags exactly once, after your thinking, and follow any output format that the question asks for. An answer outside the tags is not counted.`

const DEFAULT_RETRY_PROMPT = '{feedback}\nThink again, and give a new answer in the same format.'

export const TaskOrCategory = z
  .union([TaskName, z.string().regex(/^category:[a-z]+$/, 'must be `category:` followed by the name of a category')])
  .meta({ id: 'TaskOrCategory', description: 'Name of a task, or `category:NAME` for all tasks of a category.' })

/** From low to high. An array of two rather than a tuple, because few OpenAPI generators support tuples. */
const DifficultyRange = z
  .array(Difficulty)
  .length(2)
  .refine(([low = 0, high = 0]) => low <= high, 'must be in order: the lower difficulty first') as unknown as z.ZodType<
  [number, number]
> // as its length says

/** A task of a run with its own weight and difficulty. With a `config` the task does not use its ladder. */
const WeightedTask = z
  .strictObject({
    task: TaskOrCategory,
    weight: z
      .number()
      .min(0)
      .max(1e6)
      .default(1)
      .describe('Relative frequency of the task among the tasks of the run.'),
    config: Config.optional().describe(
      'Library config of the task, in place of its ladder. Fields that you leave out keep the library’s defaults.',
    ),
    difficulty: z
      .union([Difficulty, DifficultyRange])
      .optional()
      .describe(
        'Difficulty of the task in every mode, or a `[low, high]` range that `random`, `curriculum` and `frontier` stay within. Cannot be combined with `config`.',
      ),
    target_accuracy: Share.optional().describe(
      'Target accuracy of the task. Defaults to the run’s `curriculum_target_accuracy`.',
    ),
  })
  .refine(({ config, difficulty }) => config === undefined || difficulty === undefined, {
    path: ['difficulty'],
    message: 'cannot be combined with config',
  })
  .meta({ id: 'WeightedTask', description: 'A task or category with its own weight, difficulty or config.' })

export const TaskSelection = z
  .union([
    z.literal('all'),
    z
      .array(z.union([TaskOrCategory, WeightedTask]))
      .min(1)
      .max(512),
  ])
  .meta({
    id: 'TaskSelection',
    description: '`all`, or a list of task names, `category:NAME` and objects with weight, difficulty or config.',
  })

/**
 * Stand for several tasks: those whose questions, templates or generator come from a published benchmark, and those that a
 * rule much simpler than the task solves.
 */
export const TASK_GROUPS = ['public_benchmarks', 'shortcuts'] as const

export const TaskExclusion = z
  .array(z.union([z.enum(TASK_GROUPS), TaskOrCategory]))
  .max(512)
  .meta({
    id: 'TaskExclusion',
    description: 'List of task names, `category:NAME`, `public_benchmarks` and `shortcuts` to leave out.',
  })

const DapoLengthPenalty = z
  .strictObject({
    kind: z.literal('dapo').describe('Kind of the penalty.'),
    buffer: z
      .int()
      .min(1)
      .default(4096)
      .describe('Tokens before `max_token_length` over which the penalty grows from 0 to `factor`.'),
    // a sum of squares of larger rewards may be infinite, which no statistics can hold
    factor: z.number().min(0).max(1e6).default(1).describe('Penalty at and above `max_token_length`.'),
  })
  .meta({
    id: 'DapoLengthPenalty',
    description: 'Soft overlong punishment of DAPO (arXiv 2503.14476, equation 13).',
  })

/** Every setting of a run and its default. docs/reference/run-settings.md is generated from this schema. */
export const RunSettings = z
  .strictObject({
    preset: z
      .enum(['original', 'clean'])
      .default('original')
      .describe(
        'Defaults of the settings that you leave out. `original` behaves like the original environment; for new runs, we recommend `clean`. Settings that you give override it.',
      ),
    seed: Count.max(2 ** 32 - 1)
      .default(42)
      .describe('Seed of the item sequence. Runs with equal settings and seeds get equal items in equal order.'),
    tasks: TaskSelection.default('all').describe(
      'Tasks of the run: `all`, or a list of task names, `category:NAME` and objects such as `{ "task": "leg_counting", "weight": 2, "difficulty": 0.3 }`.',
    ),
    exclude: TaskExclusion.default([]).describe(
      'Tasks that `all` and `category:NAME` leave out: task names, `category:NAME`, `public_benchmarks` for all tasks based on a published benchmark, or `shortcuts` for all that a much simpler rule solves (`shortcut` of `GET /tasks`). A task that `tasks` names is kept.',
    ),
    sampling: z
      .enum(['weights', 'learnability'])
      .default('weights')
      .describe(
        'How the task of each item is drawn. `weights` uses the weights. `learnability` multiplies each by the variance of scores within the task’s recent groups, corrected for guessing; each task keeps at least 5% of the share that its weight gives it.',
      ),
    group_size: z.int().min(1).max(1024).default(16).describe('Number of rollouts for each item.'),
    batch_size: UpToAMillion.default(128).describe(
      'Minimum number of rollouts in a batch. A batch holds whole groups, so it can be larger; `min_rollouts` and `final` of a batch request allow smaller ones.',
    ),
    exclude_eval_items: Flag.default(false).describe(
      'If true, the run never hands out a question of a frozen eval suite. Each position of the item sequence has 16 seeds; the next one replaces a seed that gives such a question.',
    ),
    avoid_repeated_items: Flag.default(false).describe(
      'If true, no question repeats within 131,072 items of the run, unless all 16 seeds of a position give a question that was already asked.',
    ),
    complexity_mode: z
      .enum(['none', 'fixed', 'random', 'curriculum', 'frontier'])
      .default('none')
      .describe(
        'How the difficulty of each item is chosen. `none`: the library’s defaults; `fixed`: the setting `difficulty`; `random`: a random difficulty. Two modes adapt to the model, by task: `curriculum` uses the rule of the original environment, `frontier` the rung with the most training signal beyond guessing.',
      ),
    difficulty: Difficulty.default(0).describe(
      'Difficulty to use when `complexity_mode` is `fixed`, from 0 (easiest) to 1 (hardest).',
    ),
    curriculum_target_accuracy: Share.default(0.7).describe(
      'Mean score that `curriculum` steers each task toward. `frontier` ignores the default; if you set a value, it uses the rung whose success rate beyond guessing is nearest to it.',
    ),
    curriculum_start: z
      .strictObject({ eval: EvalId.describe('ID of an eval that measured the model on these tasks.') })
      .meta({ id: 'CurriculumStart', description: 'Eval that `frontier` starts from.' })
      .nullable()
      .default(null)
      .describe(
        'Starting point of `frontier`. `{ "eval": ID }` starts each task at the difficulty where that eval found the model; null starts near the middle of the ladder.',
      ),
    max_token_length: z
      .int()
      .min(1)
      .default(16384)
      .describe('Token limit of the length penalty. It does not limit what the model may generate.'),
    extraction: Extraction.default('strict').describe(
      'How the answer is extracted from a completion. `strict`: exactly one `<answer>…</answer>` outside the thinking; `last_tag`: the last one; `tag_or_boxed`: the last one, else the last `\\boxed{…}`; `bare`: the whole text.',
    ),
    stop: Stop.default(null).describe(Stop.description ?? ''),
    opens_thinking: OpensThinking.default(false).describe(OpensThinking.description ?? ''),
    dual_format: Flag.default(true).describe(
      'If true, the answer is scored both bare and wrapped in answer tags, and the higher score counts.',
    ),
    scoring: ScoringMode.default('upstream').describe(
      '`upstream` uses the library’s scores. `hardened` uses the same rules with their known reward hacks closed.',
    ),
    feedback: FeedbackLevel.default('none').describe(
      'Feedback in verdicts without the full score: `none`, on the `format` of the answer, or also on the first broken `rule`.',
    ),
    tries: z
      .int()
      .min(1)
      .max(MAX_TRIES)
      .default(1)
      .describe(
        'Tries at an item. Above 1, a rollout may have several `turns`, or send its turns one at a time, and a wrong turn is followed by `retry_prompt`.',
      ),
    try_discount: Share.default(1).describe(
      'Factor on the reward for each try before the one that decides: the first right one, else the last.',
    ),
    retry_prompt: RetryPrompt.default(DEFAULT_RETRY_PROMPT).describe(RetryPrompt.description ?? ''),
    length_penalty: z
      .union([z.boolean(), DapoLengthPenalty])
      .default(true)
      .describe(
        'Penalty for long completions. true: if all rollouts of a group are correct, rewards shrink linearly from ¾ of `max_token_length` and reach 0 at `max_token_length`. false: no penalty. `{ "kind": "dapo", "buffer": 4096, "factor": 1 }`: the soft overlong punishment of DAPO.',
      ),
    mask_too_long_completions: Flag.default(true).describe(
      'If true, rollouts with `finish_reason: "length"` are masked: they stay in the batch but carry no training signal.',
    ),
    min_trained_tokens: Count.default(10).describe(
      'Minimum number of trained tokens. Rollouts with fewer are excluded (`skipped: "too_short"`); the rest of the group still counts.',
    ),
    advantage: z
      .enum(['mean', 'mean_std', 'leave_one_out', 'none'])
      .default('mean')
      .describe(
        'How advantages are computed from the rewards of a group. `mean`: reward minus mean; `mean_std`: reward minus mean, divided by the sample standard deviation + 0.0001; `leave_one_out`: reward minus the mean of the others; `none`: the reward. A group posted with one rollout gets its reward; in a larger group, a single rollout that counts gets 0.',
      ),
    drop_equal_scores: Flag.default(true).describe(
      'If true, groups without training signal are counted but not buffered. If false, they are buffered too.',
    ),
    signal_on: z
      .enum(['reward', 'score'])
      .default('reward')
      .describe(
        'Values that must differ within a group for it to carry signal: `reward`, after penalties, or `score`, before them.',
      ),
    unscored_rollouts: z
      .enum(['omit', 'mask'])
      .default('omit')
      .describe(
        'What batches do with unscored rollouts: `omit` leaves them out; `mask` includes them with reward null and advantage 0.',
      ),
    buffer: Flag.default(true).describe(
      'If true, scored groups wait in the buffer until a trainer takes them in a batch. If false, groups are only scored.',
    ),
    buffer_open_groups: Flag.default(false).describe(
      'If true, groups gathered from single samples also enter the buffer; this requires `buffer`. If the buffer stays full for `open_group_timeout_s`, such groups are counted without being buffered.',
    ),
    buffer_max_groups: UpToAMillion.default(4096).describe(
      'Maximum number of queued and buffered groups. Above it, new groups are rejected with 429 `buffer_full`.',
    ),
    keep_groups: UpToAMillion.default(10_000).describe(
      'Number of recent groups that remain available for inspection and export.',
    ),
    max_policy_lag: Count.nullable()
      .default(null)
      .describe(
        'Maximum policy lag, in policy versions. Groups with a larger lag are dropped and counted as stale when a batch is composed; null: no limit.',
      ),
    max_groups_ahead: UpToAMillion.nullable()
      .default(null)
      .describe(
        'Maximum number of groups that are handed out, queued or buffered at once. At the limit, `POST /items` without a step hands out nothing until the trainer catches up; null: no limit.',
      ),
    item_lease_s: UpToAWeek.default(3600).describe(
      'Seconds after which an item whose group has not arrived is handed out again.',
    ),
    open_group_timeout_s: UpToAWeek.default(600).describe(
      'Seconds without a new sample after which an open group is closed with the samples it has, even if they are fewer than `group_size`.',
    ),
    dump_rollouts: z
      .union([z.boolean(), z.literal('all')])
      .default(false)
      .describe(
        'Whether groups are written to JSONL dump files. true: groups with a reward above `rollout_save_score_threshold`; `all`: every scored group.',
      ),
    dump_failed_rollouts: Flag.default(false).describe(
      'If true, groups in which every score is 0 are written to dump files of their own.',
    ),
    rollout_save_score_threshold: Share.default(0.7).describe(
      'Reward threshold of `dump_rollouts`: a group is dumped if any of its rewards exceeds this value.',
    ),
    debug_logging: Flag.default(false).describe(
      'If true, logs every item, extraction and score of this run, whatever the log level. Completions are cut to 300 characters.',
    ),
    suppress_base_env_logs: Flag.default(true).describe(
      'If true, log lines about the requests and jobs of this run appear at level `trace` instead of `info`.',
    ),
    system_prompt: z
      .string()
      .max(100_000)
      .nullable()
      .default(DEFAULT_SYSTEM_PROMPT)
      .describe('Instructions that precede each question. null: no instructions.'),
    system_prompt_role: z
      .enum(['system', 'user'])
      .default('system')
      .describe('Where the instructions go: a `system` message, or the start of the `user` message.'),
    clarify: Flag.default(false).describe('If true, prompts end with the `clarification` of their item.'),
    num_eval_samples_per_task: z
      .int()
      .min(1)
      .max(1000)
      .default(5)
      .describe('Number of items per task in the run’s own eval suite (`"suite": "run"`).'),
    eval_seed: Count.max(2 ** 30 - 1)
      .default(123)
      .describe('Seed of the run’s own eval suite.'),
    tags: z
      .array(z.string().min(1).max(64))
      .max(32)
      .default([])
      .describe('Tags to show and search in lists of runs. They change nothing in the run.'),
    notes: z.string().max(10_000).default('').describe('Free-form notes, shown on the page of the run.'),
  })
  .meta({ id: 'RunSettings', description: 'All settings of a run with their defaults.' })
export type RunSettings = z.infer<typeof RunSettings>

/** Body of `PUT /runs/{run}`: omitted settings keep their value, null restores the default. */
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
  .meta({
    id: 'SettingsChange',
    description:
      'Settings to change. Omitted settings keep their value. null restores the default, except for `system_prompt`, where null means no instructions.',
  })
export type SettingsChange = z.infer<typeof SettingsChange>

const PRESETS: Record<RunSettings['preset'], SettingsChange> = {
  original: {},
  clean: {
    dual_format: false,
    min_trained_tokens: 1,
    length_penalty: false,
    extraction: 'last_tag',
    scoring: 'hardened',
    clarify: true,
    signal_on: 'score',
    complexity_mode: 'frontier',
    exclude_eval_items: true,
    avoid_repeated_items: true,
    exclude: ['shortcuts'],
  },
}

/** The settings in effect: the given ones override those of the preset, which override the defaults. */
export function resolveSettings(named: SettingsChange): RunSettings {
  return RunSettings.parse({ ...PRESETS[named.preset ?? 'original'], ...named })
}
