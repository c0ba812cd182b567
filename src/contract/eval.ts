/** One model measured on one suite: what is asked for, and what comes of it. */
import { z } from 'zod'
import { ItemId } from './item-id.ts'
import { NOT_FOUND_CODES } from './problem.ts'
import { Config, Difficulty, RecipeOutput, TaskName } from './recipe.ts'
import { Message, RunName } from './rollout.ts'
import { Extraction, FormatErrorCode, ScoringMode, UnscoredCode } from './verdict.ts'

export const EvalId = z
  .string()
  .regex(/^eval-[0-9a-f]{12,32}$/, 'an ID as POST /eval returned it')
  .register(NOT_FOUND_CODES, { code: 'unknown_eval' })

/**
 * Of a model's server: what a header can carry, without the blanks at its ends (files end with a newline, and fetch would
 * cut it off unseen: the key that a server repeats would not be known as the key any more).
 */
export const ModelApiKey = z
  .string()
  .trim()
  .min(1)
  .max(8192)
  .regex(/^[ -~]*$/, 'printable ASCII characters, as a header carries them')

/** Where a model is. The key is written, never read. */
export const ModelInput = z
  .strictObject({
    name: z.string().min(1).max(256).describe('As the model’s server knows it'),
    base_url: z.url().max(2048).describe('Of an OpenAI-compatible server, with /v1 where it has it'),
    api_key: ModelApiKey.optional().describe('Never shown again, and forgotten when the eval ends'),
  })
  .meta({ id: 'ModelInput' })
export type ModelInput = z.infer<typeof ModelInput>

/** Parameters of a request that the server itself sets. */
const RESERVED_REQUEST_FIELDS = ['messages', 'model', 'stream', 'n'] as const

/** How a model is asked. */
export const GenerationParamFields = {
  temperature: z.number().min(0).max(100).nullable().optional().describe('null leaves it out'),
  max_tokens: z.int().min(1).max(10_000_000).optional(),
  top_p: z.number().min(0).max(1).optional(),
  request: z
    .record(z.string(), z.unknown())
    .refine(
      (fields) => RESERVED_REQUEST_FIELDS.every((name) => !(name in fields)),
      `may not set ${RESERVED_REQUEST_FIELDS.join(', ')}`,
    )
    .refine((fields) => JSON.stringify(fields).length <= 100_000, 'at most 100,000 characters')
    .optional()
    .describe('Merged into the body of each request to the model'),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31)
    .optional()
    .describe('Sample k of an item is asked for with seed + k'),
  concurrency: z.int().min(1).max(256).default(16).describe('Requests in flight, at most'),
  timeout_s: z.number().min(0.1).max(3600).default(600).describe('Of one request'),
  retries: z.int().min(0).max(20).default(5).describe('Of one request that failed in a way that may pass'),
}

const TaskOrCategoryName = z.union([TaskName, z.string().regex(/^category:[a-z]+$/)]).meta({ id: 'TaskOrCategoryName' })

/** A suite of one's own: `n` items of each task. */
export const CustomSuite = z
  .strictObject({
    tasks: z
      .array(TaskOrCategoryName)
      .min(1)
      .max(512)
      .optional()
      .describe('Names and `category:…`; neither these nor categories: all'),
    categories: z.array(z.string().max(64)).min(1).max(64).optional(),
    n: z.int().min(1).max(1000).default(5).describe('Items of each task'),
    difficulty: Difficulty.nullish().describe('null: the library’s defaults'),
    config: Config.optional().describe('Of every task named; excludes difficulty'),
    seed: z
      .int()
      .min(0)
      .max(2 ** 29)
      .default(0)
      .describe('Counted from where the seeds of eval items begin, 2^30'),
  })
  .meta({ id: 'CustomSuite' })
export type CustomSuite = z.infer<typeof CustomSuite>

/** Finds out where a model's reach ends, with items that follow from its answers. */
export const FrontierSuite = z
  .strictObject({
    mode: z.literal('frontier'),
    tasks: CustomSuite.shape.tasks,
    categories: CustomSuite.shape.categories,
    n: z.int().min(4).max(200).default(20).describe('Items of each task'),
    seed: CustomSuite.shape.seed,
  })
  .meta({ id: 'FrontierSuite' })
export type FrontierSuite = z.infer<typeof FrontierSuite>

export const SuiteName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'the name of a suite, as GET /eval/suites lists it')
  .register(NOT_FOUND_CODES, { code: 'unknown_suite' })
const Label = z.string().min(1).max(128)
export const EvalLabels = z.union([z.array(Label).max(32), z.record(Label, Label)]).meta({ id: 'EvalLabels' })

/** How completions are prompted and graded. */
export const GradingFields = {
  extraction: Extraction.optional(),
  dual_format: z.boolean().optional(),
  scoring: ScoringMode.optional(),
  system_prompt: z.string().max(100_000).nullable().optional().describe('null: none'),
  system_prompt_role: z.enum(['system', 'user']).optional(),
}

export const EvalInput = z
  .strictObject({
    model: ModelInput.nullable().describe('null: the caller brings the completions'),
    suite: z
      .union([SuiteName, CustomSuite, FrontierSuite])
      .default('original')
      .describe(
        'Name of a frozen suite; `run`: the tasks of the run; `frontier`: the frontier of all tasks; an object: tasks of your own or, with `mode`, the frontier of some tasks',
      ),
    samples_per_item: z.int().min(1).max(256).default(1),
    ...GenerationParamFields,
    ...GradingFields,
    run: RunName.optional().describe('Whose prompt and rules hold where nothing is said here, and whose curve this is'),
    step: z.int().min(0).optional().describe('Of the training'),
    labels: EvalLabels.optional(),
  })
  .refine(({ suite, run }) => suite !== 'run' || run !== undefined, {
    path: ['run'],
    message: 'the suite `run` needs the name of the run',
  })
  .refine(({ suite, model }) => !isFrontier(suite) || model !== null, {
    path: ['model'],
    message: 'a frontier eval chooses its items from the answers, so the server must ask the model: give `model`',
  })
  .refine(({ suite, samples_per_item }) => !isFrontier(suite) || samples_per_item === 1, {
    path: ['samples_per_item'],
    message: 'a frontier eval takes one sample of each item: raise `n` of the suite instead',
  })
  .meta({ id: 'EvalInput' })
export type EvalInput = z.infer<typeof EvalInput>

/** Whether a suite is one of items that follow from the answers. */
export function isFrontier(suite: string | CustomSuite | FrontierSuite): suite is 'frontier' | FrontierSuite {
  return suite === 'frontier' || (typeof suite === 'object' && 'mode' in suite)
}

const NullableNumber = z.number().nullable()
export const ConfidenceInterval = z.array(z.number()).length(2).nullable()
const Count = z.int().min(0)

const RateByK = z.record(z.string(), z.number())
const ErrorByK = z.record(z.string(), NullableNumber).describe('Standard errors over the items, by k')

/** What a set of samples came to. Null where there is nothing to take a mean of. */
export const EvalStatistics = z
  .strictObject({
    mean_score: NullableNumber,
    stderr: NullableNumber.describe(
      'Standard error of mean_score in a repetition with other items of the same tasks: clustered by item, stratified by task. Null for fewer than two items',
    ),
    confidence_95: ConfidenceInterval.describe('95 % interval of mean_score, by the method of Wilson: within [0, 1]'),
    other_tasks: z
      .strictObject({ stderr: z.number(), confidence_95: ConfidenceInterval })
      .nullable()
      .describe(
        'The same in a repetition with other tasks of this kind: clustered by task. Null for fewer than two tasks',
      ),
    mean_score_failures_wrong: NullableNumber.describe('With failed, unscored and missing samples counted as 0'),
    guess_floor: NullableNumber.describe(
      'Mean guess floor of the scored samples: what the best guess earns, from the task cards',
    ),
    guess_floor_unknown: Count.describe(
      'Scored samples without a task card (custom configs, rungs of earlier ladders): their guess floor counts as 0',
    ),
    lift: NullableNumber.describe(
      'Floor-corrected mean score, (mean_score − guess_floor) / (1 − guess_floor): 0 for guessing, 1 for full marks. Null where guessing earns full marks',
    ),
    lift_stderr: NullableNumber,
    lift_confidence_95: ConfidenceInterval.describe('95 % interval of lift; its ends may lie below 0'),
    accuracy: NullableNumber.describe('Share of scores of 0.99 or more'),
    accuracy_confidence_95: ConfidenceInterval.describe('95 % interval of accuracy, by the method of Wilson'),
    pass_at: RateByK.describe('pass@k: probability that at least one of k samples is correct (unbiased estimator)'),
    pass_at_stderr: ErrorByK,
    pass_all: RateByK.describe('pass^k: probability that all of k samples are correct'),
    pass_all_stderr: ErrorByK,
    majority_at: RateByK.describe('maj@k: probability that the most common answer of k samples is correct'),
    majority_at_stderr: ErrorByK,
    repeated_items: Count.describe(
      'Items behind pass_at, pass_all and majority_at: those with as many scored samples as the item with the most',
    ),
    format_faults: NullableNumber.describe('Share of the scored samples with a fault'),
    faults: z.record(z.string(), Count),
    n: Count.describe('Samples wanted'),
    items: Count,
    scored: Count,
    unscored: Count.describe('Asked for, but without a score: the model or the scorer failed'),
    missing: Count.describe('Never came'),
    truncated: Count.describe('Cut by the limit of tokens'),
    mean_tokens: NullableNumber,
  })
  .meta({ id: 'EvalStatistics' })
export type EvalStatistics = z.infer<typeof EvalStatistics>

const Interval = z.array(z.number()).length(2)

export const FrontierResult = z
  .strictObject({
    difficulty_at_half: NullableNumber.describe('Mean over the tasks'),
    interval_90: Interval.nullable().describe('90 % interval of the mean, for these tasks'),
    tasks: z.record(
      z.string(),
      z.strictObject({
        difficulty_at_half: z
          .number()
          .describe('Difficulty at which the model gets half right above the guess floor; within [0, 1]'),
        interval_90: Interval.describe('Contains the place with a probability of 90 %'),
        slope: z.number().describe('Steepness of the fall there: log-odds per unit of difficulty'),
        beyond: z
          .enum(['below_ladder', 'above_ladder'])
          .nullable()
          .describe(
            '`above_ladder`: the model is most likely better than the hardest rung; `below_ladder`: worse than the easiest; else null',
          ),
        items: Count.describe('Items with a score'),
      }),
    ),
    left_out: z.record(z.string(), z.string()).describe('Tasks without a frontier, with the reason'),
  })
  .meta({ id: 'FrontierResult' })
export type FrontierResult = z.infer<typeof FrontierResult>

export const EvalResult = z
  .strictObject({
    ...EvalStatistics.shape,
    warnings: z.array(z.string()),
    failures: z.record(z.string(), Count).describe('Samples without a score, by reason'),
    categories: z.record(z.string(), EvalStatistics),
    tasks: z.record(z.string(), z.strictObject({ ...EvalStatistics.shape, category: z.string() })),
    difficulties: z
      .record(z.string(), EvalStatistics)
      .describe('By the difficulty asked for; `default` is the library’s'),
    frontier: FrontierResult.nullable().describe(
      'Where a frontier eval found the model on each ladder; null for other evals',
    ),
    repeat: z.looseObject({}).describe('Everything needed to repeat the eval'),
  })
  .meta({ id: 'EvalResult' })
export type EvalResult = z.infer<typeof EvalResult>

export const GenerationJobStatus = z
  .enum(['queued', 'running', 'done', 'failed', 'cancelled'])
  .meta({ id: 'GenerationJobStatus' })
export type GenerationJobStatus = z.infer<typeof GenerationJobStatus>

/** Whether an eval or collection is not over yet. */
export function isActive(status: GenerationJobStatus | undefined): boolean {
  return status === 'queued' || status === 'running'
}

export const GenerationProgress = z
  .strictObject({
    done: Count,
    total: Count,
    failed: Count.describe('Done, but without a score'),
    mean_score: NullableNumber.describe('So far'),
  })
  .meta({ id: 'GenerationProgress' })

const evalSummaryFields = {
  id: EvalId,
  status: GenerationJobStatus,
  model: z.strictObject({ name: z.string(), base_url: z.string() }).nullable(),
  suite: z.strictObject({ name: z.string(), sha256: z.string().nullable(), items: Count }),
  samples_per_item: Count,
  run: z.string().nullable(),
  step: z.int().nullable(),
  labels: z.union([z.array(z.string()), z.record(z.string(), z.string())]),
  created_at: z.string(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  progress: GenerationProgress,
  detail: z.string().nullable().describe('Why it failed'),
}

export const EvalView = z.strictObject({ ...evalSummaryFields, result: EvalResult.nullable() }).meta({ id: 'EvalView' })
export type EvalView = z.infer<typeof EvalView>

/** As it stands in a list: the figures of the whole, without those of its parts. */
export const EvalSummary = z
  .strictObject({
    ...evalSummaryFields,
    result: EvalStatistics.nullable(),
    difficulty_at_half: NullableNumber.describe('Of a frontier eval: the mean over its tasks; null for other evals'),
  })
  .meta({ id: 'EvalSummary' })
export type EvalSummary = z.infer<typeof EvalSummary>

export const SampleId = z.string().regex(/^s\d{1,9}$/, 'a sample_id as GET /eval/{id}/items gave it')

/** A completion that the caller brings. */
export const CompletionInput = z
  .strictObject({
    sample_id: SampleId,
    completion: z.string().optional(),
    messages: z.array(Message).min(1).optional(),
    finish_reason: z.string().max(64).nullish(),
    length_tokens: z.int().min(0).optional(),
  })
  .refine(({ completion, messages }) => (completion === undefined) !== (messages === undefined), {
    path: ['completion'],
    message: 'give either completion or messages',
  })
  .meta({ id: 'CompletionInput' })
export type CompletionInput = z.infer<typeof CompletionInput>

/** One sample of an eval, as GET /eval/{id}/samples writes it. */
export const EvalSample = z
  .strictObject({
    sample_id: SampleId,
    item_id: ItemId,
    task: z.string(),
    difficulty: Difficulty.nullable(),
    status: z.enum(['scored', 'unscored', 'missing']),
    score: z.number().nullable(),
    answer: z.string().nullable(),
    fault: FormatErrorCode.nullable(),
    code: UnscoredCode.optional(),
    detail: z.string().optional(),
    finish_reason: z.string().nullable(),
    length_tokens: Count.nullable(),
    completion: z.string().nullable().describe('null where it is missing or was too much to keep'),
    reasoning: z.string().optional(),
    messages: z.array(Message).optional(),
  })
  .meta({ id: 'EvalSample' })
export type EvalSample = z.infer<typeof EvalSample>

export const SuiteSummary = z
  .strictObject({
    name: z.string(),
    version: z.int(),
    items: Count,
    sha256: z.string(),
    description: z.string(),
  })
  .meta({ id: 'SuiteSummary' })
export type SuiteSummary = z.infer<typeof SuiteSummary>

export const Suite = z
  .strictObject({
    ...SuiteSummary.shape,
    engine: z.string().describe('Version of the library'),
    recipes: z.array(z.strictObject({ ...RecipeOutput.shape, id: ItemId })),
  })
  .meta({ id: 'Suite' })
