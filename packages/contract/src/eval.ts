/** An eval: one model measured on one suite. */
import { z } from 'zod'
import { ItemId } from './item-id.ts'
import { NOT_FOUND_CODES } from './problem.ts'
import { Config, Difficulty, RecipeOutput, TaskName } from './recipe.ts'
import { Message, RunName } from './rollout.ts'
import { Extraction, FormatErrorCode, ScoringMode, UnscoredCode } from './verdict.ts'

export const EvalId = z
  .string()
  .regex(/^eval-[0-9a-f]{12,32}$/, 'must be an ID that POST /eval returned')
  .meta({ id: 'EvalId', description: 'ID of an eval.' })
  .register(NOT_FOUND_CODES, { code: 'unknown_eval', kind: 'eval' }) // last: every other method returns a copy that is not registered

/**
 * API key of a model's server: text that a header can carry, without surrounding whitespace. Keys read from files often end
 * with a newline; fetch would strip it silently, and a key that the server echoes would no longer be recognized and hidden.
 */
export const ModelApiKey = z
  .string()
  .trim()
  .min(1)
  .max(8192)
  .regex(/^[ -~]*$/, 'must consist of printable ASCII characters')

export const ModelInput = z
  .strictObject({
    name: z.string().min(1).max(256).describe('Name of the model on its server.'),
    base_url: z
      .url()
      .max(2048)
      .describe('Base URL of an OpenAI-compatible server, including `/v1` if the server uses it.'),
    api_key: ModelApiKey.optional().describe(
      'API key of the model’s server. It is never returned, and deleted when the job ends.',
    ),
  })
  .meta({ id: 'ModelInput', description: 'A model behind an OpenAI-compatible API.' })
export type ModelInput = z.infer<typeof ModelInput>

/** Request parameters that the server itself sets. */
const RESERVED_REQUEST_FIELDS = ['messages', 'model', 'stream', 'n'] as const

/** How completions are requested from a model. */
export const GenerationParamFields = {
  temperature: z
    .number()
    .min(0)
    .max(100)
    .nullable()
    .optional()
    .describe('Sampling temperature. null omits the parameter.'),
  max_tokens: z.int().min(1).max(10_000_000).optional().describe('Maximum number of tokens of a completion.'),
  top_p: z.number().min(0).max(1).optional().describe('Nucleus sampling: probability mass to sample from.'),
  request: z
    .record(z.string(), z.unknown())
    .refine(
      (fields) => RESERVED_REQUEST_FIELDS.every((name) => !(name in fields)),
      `must not set ${RESERVED_REQUEST_FIELDS.join(', ')}: the server sets them`,
    )
    .refine((fields) => JSON.stringify(fields).length <= 100_000, 'must have at most 100,000 characters as JSON')
    .optional()
    .describe('Fields merged into the body of each request to the model.'),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31)
    .optional()
    .describe('Sampling seed. Sample k of an item is requested with `seed` + k.'),
  concurrency: z.int().min(1).max(256).default(16).describe('Maximum number of requests in flight.'),
  timeout_s: z.number().min(0.1).max(3600).default(600).describe('Timeout of one request, in seconds.'),
  retries: z
    .int()
    .min(0)
    .max(20)
    .default(5)
    .describe('Maximum number of retries of a request that failed temporarily.'),
}

const TaskOrCategoryName = z
  .union([TaskName, z.string().regex(/^category:[a-z]+$/)])
  .meta({ id: 'TaskOrCategoryName', description: 'Name of a task, or `category:NAME` for all tasks of a category.' })

export const CustomSuite = z
  .strictObject({
    tasks: z
      .array(TaskOrCategoryName)
      .min(1)
      .max(512)
      .optional()
      .describe('Task names and `category:NAME`. Without `tasks` and `categories`, the suite has all tasks.'),
    categories: z
      .array(z.string().max(64).describe('Name of a category.'))
      .min(1)
      .max(64)
      .optional()
      .describe('Categories whose tasks the suite has.'),
    n: z.int().min(1).max(1000).default(5).describe('Number of items per task.'),
    difficulty: Difficulty.nullish().describe('Difficulty of all items. null or absent: the library’s defaults.'),
    config: Config.optional().describe('Config for every task, in place of `difficulty`.'),
    seed: z
      .int()
      .min(0)
      .max(2 ** 29)
      .default(0)
      .describe('Offset into the seeds reserved for evals, which begin at 2^30.'),
  })
  .meta({ id: 'CustomSuite', description: 'A suite of your own: `n` items of each task.' })
export type CustomSuite = z.infer<typeof CustomSuite>

export const FrontierSuite = z
  .strictObject({
    mode: z.literal('frontier').describe('Kind of the suite.'),
    tasks: CustomSuite.shape.tasks,
    categories: CustomSuite.shape.categories,
    n: z.int().min(4).max(200).default(20).describe('Number of items per task.'),
    seed: CustomSuite.shape.seed,
  })
  .meta({
    id: 'FrontierSuite',
    description:
      'Suite that measures the difficulty at which the model solves half of the items beyond guessing. Each item is chosen from the answers so far.',
  })
export type FrontierSuite = z.infer<typeof FrontierSuite>

export const SuiteName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be the name of a suite, as GET /eval/suites lists it')
  .meta({ id: 'SuiteName', description: 'Name of a frozen suite.' })
  .register(NOT_FOUND_CODES, { code: 'unknown_suite', kind: 'suite' }) // last: every other method returns a copy that is not registered
const Label = z.string().min(1).max(128)
export const EvalLabels = z
  .union([z.array(Label).max(32), z.record(Label, Label)])
  .meta({ id: 'EvalLabels', description: 'Labels of your own: a list of strings, or strings by name.' })

/** How the model is prompted and completions are graded. */
export const GradingFields = {
  extraction: Extraction.optional(),
  dual_format: z
    .boolean()
    .optional()
    .describe('If true, the answer is scored both bare and wrapped in answer tags, and the higher score counts.'),
  scoring: ScoringMode.optional(),
  system_prompt: z
    .string()
    .max(100_000)
    .nullable()
    .optional()
    .describe('Instructions that precede each question. null: no instructions.'),
  system_prompt_role: z
    .enum(['system', 'user'])
    .optional()
    .describe('Where the instructions go: a system message, or the start of the user message.'),
}

export const EvalInput = z
  .strictObject({
    model: ModelInput.nullable().describe('Model to measure. null: you post the completions yourself.'),
    suite: z
      .union([SuiteName, CustomSuite, FrontierSuite])
      .default('original')
      .describe(
        'Suite to measure on: the name of a frozen suite; `run` for the tasks of the run; `frontier` for the frontier of all tasks; or an object that describes a suite of your own.',
      ),
    samples_per_item: z.int().min(1).max(256).default(1).describe('Number of completions per item.'),
    ...GenerationParamFields,
    ...GradingFields,
    run: RunName.optional().describe(
      'Run whose prompt and grading rules apply where the request sets none, and whose evals the result is listed with.',
    ),
    step: z.int().min(0).optional().describe('Training step of the model.'),
    labels: EvalLabels.optional(),
  })
  .refine(({ suite, run }) => suite !== 'run' || run !== undefined, {
    path: ['run'],
    message: 'missing: the suite `run` requires the name of the run',
  })
  .refine(({ suite, model }) => !isFrontier(suite) || model !== null, {
    path: ['model'],
    message: 'must not be null: a frontier eval chooses its items from the answers, so the server must call the model',
  })
  .refine(({ suite, samples_per_item }) => !isFrontier(suite) || samples_per_item === 1, {
    path: ['samples_per_item'],
    message: 'must be 1 for a frontier eval; raise `n` of the suite instead',
  })
  .meta({ id: 'EvalInput', description: 'Request to measure a model on a suite.' })
export type EvalInput = z.infer<typeof EvalInput>

/** Whether the items of a suite are chosen from the answers. */
export function isFrontier(suite: string | CustomSuite | FrontierSuite): suite is 'frontier' | FrontierSuite {
  return suite === 'frontier' || (typeof suite === 'object' && 'mode' in suite)
}

const NullableNumber = z.number().nullable()
export const ConfidenceInterval = z.array(z.number()).length(2).nullable()
const Count = z.int().min(0)

const RateByK = z.record(z.string(), z.number())
const ErrorByK = z
  .record(z.string(), NullableNumber)
  .describe('Standard errors over the items, by k; null for fewer than two items.')

/** Samples that have no score for the same reason. */
export const SampleFailure = z
  .strictObject({
    code: z
      .enum([...UnscoredCode.options, 'other'])
      .describe('Why the samples have no score; `other`: the sum of the rarer reasons.'),
    reason: z.string().describe('Reason in words, as of the first of these samples, without request IDs.'),
    count: Count.describe('Number of samples.'),
  })
  .meta({ id: 'SampleFailure', description: 'Samples that have no score for the same reason.' })
export type SampleFailure = z.infer<typeof SampleFailure>

const MAX_SHOWN_FAILURES = 3

/** The most frequent failures in words: `20 × generation_failed: connection refused`. */
export function formatFailures(failures: readonly SampleFailure[]): string[] {
  const shown = failures.slice(0, MAX_SHOWN_FAILURES).map(({ code, reason, count }) => `${count} × ${code}: ${reason}`)
  const rest = failures.slice(MAX_SHOWN_FAILURES).reduce((sum, { count }) => sum + count, 0)
  return rest === 0 ? shown : [...shown, `${rest} × other reasons`]
}

export const SampleFailures = z
  .array(SampleFailure)
  .describe('Samples without a score by reason, most frequent reason first, at most 21 entries.')

export const EvalStatistics = z
  .strictObject({
    mean_score: NullableNumber.describe('Mean score of the scored samples; null if there are none.'),
    stderr: NullableNumber.describe(
      'Standard error of `mean_score` over repetitions with other items of the same tasks: clustered by item, stratified by task. null for fewer than two items.',
    ),
    confidence_95: ConfidenceInterval.describe('95% Wilson interval of `mean_score`; null if there are no samples.'),
    other_tasks: z
      .strictObject({
        stderr: z.number().describe('Standard error of `mean_score`.'),
        confidence_95: ConfidenceInterval.describe('95% interval of `mean_score`.'),
      })
      .describe('Uncertainty over tasks.')
      .nullable()
      .describe(
        'Uncertainty of `mean_score` over repetitions with other tasks of this kind: clustered by task. null for fewer than two tasks.',
      ),
    mean_score_failures_wrong: NullableNumber.describe(
      'Mean score if failed, unscored and missing samples count as 0; null if there are none.',
    ),
    guess_floor: NullableNumber.describe(
      'Mean guess floor of the scored samples, from the task cards: the score that the best guess earns.',
    ),
    guess_floor_unknown: Count.describe(
      'Number of scored samples without a task card (custom configs, rungs of earlier ladders). Their guess floor counts as 0.',
    ),
    lift: NullableNumber.describe(
      'Floor-corrected mean score, (mean_score − guess_floor) / (1 − guess_floor): 0 for guessing, 1 if all answers are correct. null if guessing earns full marks.',
    ),
    lift_stderr: NullableNumber.describe('Standard error of `lift`; null if unknown.'),
    lift_confidence_95: ConfidenceInterval.describe('95% interval of `lift`; its ends can be below 0.'),
    accuracy: NullableNumber.describe('Share of the scored samples with a score of at least 0.99.'),
    accuracy_confidence_95: ConfidenceInterval.describe('95% Wilson interval of `accuracy`.'),
    pass_at: RateByK.describe(
      'Estimate of pass@k, by k: probability that at least one of k samples is correct (unbiased estimator).',
    ),
    pass_at_stderr: ErrorByK,
    pass_all: RateByK.describe('Estimate of pass^k, by k: probability that all of k samples are correct.'),
    pass_all_stderr: ErrorByK,
    majority_at: RateByK.describe(
      'Estimate of maj@k, by k: probability that the most common answer of k samples is correct.',
    ),
    majority_at_stderr: ErrorByK,
    repeated_items: Count.describe(
      'Number of items behind `pass_at`, `pass_all` and `majority_at`: those with as many scored samples as the item with the most.',
    ),
    format_faults: NullableNumber.describe('Share of the scored samples with a format fault; null if there are none.'),
    faults: z.record(z.string(), Count).describe('Number of samples by format fault.'),
    n: Count.describe('Number of samples requested.'),
    items: Count.describe('Number of items.'),
    scored: Count.describe('Number of scored samples.'),
    unscored: Count.describe('Number of samples without a score because the model or the scorer failed.'),
    missing: Count.describe('Number of samples without a completion.'),
    truncated: Count.describe('Number of completions cut off at the token limit.'),
    mean_tokens: NullableNumber.describe('Mean length of the completions in tokens; null if unknown.'),
  })
  .meta({ id: 'EvalStatistics', description: 'Scores and counts of a set of samples.' })
export type EvalStatistics = z.infer<typeof EvalStatistics>

const Interval = z.array(z.number()).length(2)

export const FrontierResult = z
  .strictObject({
    difficulty_at_half: NullableNumber.describe(
      'Mean of `difficulty_at_half` over the tasks; null if no task has one.',
    ),
    interval_90: Interval.nullable().describe('90% interval of that mean; null if no task has one.'),
    tasks: z
      .record(
        z.string(),
        z
          .strictObject({
            difficulty_at_half: z
              .number()
              .describe('Difficulty, in [0, 1], at which the model solves half of the items beyond guessing.'),
            interval_90: Interval.describe('90% interval of `difficulty_at_half`.'),
            slope: z
              .number()
              .describe(
                'Steepness at which success falls at `difficulty_at_half`, in log-odds per unit of difficulty.',
              ),
            beyond: z
              .enum(['below_ladder', 'above_ladder'])
              .nullable()
              .describe(
                '`above_ladder`: the model most likely exceeds the hardest rung; `below_ladder`: it most likely fails the easiest rung; null: neither.',
              ),
            items: Count.describe('Number of items with a score.'),
          })
          .describe('Result of one task.'),
      )
      .describe('Result of each task, by name.'),
    left_out: z.record(z.string(), z.string()).describe('Reason for each task without a result, by name.'),
  })
  .meta({ id: 'FrontierResult', description: 'Difficulty at which a frontier eval found the model on each ladder.' })
export type FrontierResult = z.infer<typeof FrontierResult>

export const EvalResult = z
  .strictObject({
    ...EvalStatistics.shape,
    warnings: z.array(z.string()).describe('Reasons to read the result with care, each a sentence.'),
    failures: SampleFailures,
    categories: z.record(z.string(), EvalStatistics).describe('Statistics by category.'),
    tasks: z
      .record(
        z.string(),
        z
          .strictObject({ ...EvalStatistics.shape, category: z.string().describe('Category of the task.') })
          .describe('Statistics of one task.'),
      )
      .describe('Statistics by task.'),
    difficulties: z
      .record(z.string(), EvalStatistics)
      .describe('Statistics by requested difficulty; `default` stands for the library’s defaults.'),
    frontier: FrontierResult.nullable().describe('Result of a frontier eval; null for other evals.'),
    repeat: z.looseObject({}).describe('Everything that is needed to repeat the eval.'),
  })
  .meta({ id: 'EvalResult', description: 'Result of an eval, as a whole and by category, task and difficulty.' })
export type EvalResult = z.infer<typeof EvalResult>

export const GenerationJobStatus = z
  .enum(['queued', 'running', 'done', 'failed', 'cancelled'])
  .meta({ id: 'GenerationJobStatus', description: 'Status of an eval, a duel or a collection.' })
export type GenerationJobStatus = z.infer<typeof GenerationJobStatus>

/** Whether an eval, a duel or a collection has not ended. */
export function isActive(status: GenerationJobStatus | undefined): boolean {
  return status === 'queued' || status === 'running'
}

export const GenerationProgress = z
  .strictObject({
    done: Count.describe('Number of finished samples.'),
    total: Count.describe('Number of samples in all.'),
    failed: Count.describe('Number of finished samples without a score.'),
    mean_score: NullableNumber.describe('Mean score so far; null if there is none.'),
  })
  .meta({ id: 'GenerationProgress', description: 'Progress of an eval, a duel or a collection, in samples.' })

export const ModelLocation = z
  .strictObject({
    name: z.string().describe('Name of the model.'),
    base_url: z.string().describe('URL of its server.'),
  })
  .meta({ id: 'ModelLocation', description: 'A model and the server that it runs on.' })

const evalSummaryFields = {
  id: EvalId,
  status: GenerationJobStatus,
  model: ModelLocation.nullable().describe('Model that is measured; null if the completions are posted.'),
  suite: z
    .strictObject({
      name: z.string().describe('Name of the suite.'),
      sha256: z.string().nullable().describe('Content hash of the suite; null until all its items are known.'),
      items: Count.describe('Number of items.'),
    })
    .describe('Suite that the model is measured on.'),
  samples_per_item: Count.describe('Number of completions per item.'),
  run: z.string().nullable().describe('Run that the eval belongs to; null if there is none.'),
  step: z.int().nullable().describe('Training step of the model; null if not given.'),
  labels: z.union([z.array(z.string()), z.record(z.string(), z.string())]).describe('Labels that were given.'),
  created_at: z.string().describe('Time of creation, ISO 8601.'),
  started_at: z.string().nullable().describe('Time of the start, ISO 8601; null while queued.'),
  ended_at: z.string().nullable().describe('Time of the end, ISO 8601; null until then.'),
  progress: GenerationProgress,
  failures: SampleFailures,
  detail: z.string().nullable().describe('Reason for a failure; null if there is none.'),
}

export const EvalView = z
  .strictObject({
    ...evalSummaryFields,
    result: EvalResult.nullable().describe('Result; null until the eval has ended.'),
  })
  .meta({ id: 'EvalView', description: 'An eval with its full result.' })
export type EvalView = z.infer<typeof EvalView>

export const EvalSummary = z
  .strictObject({
    ...evalSummaryFields,
    result: EvalStatistics.nullable().describe('Overall result; null until the eval has ended.'),
    difficulty_at_half: NullableNumber.describe('Overall result of a frontier eval; null for other evals.'),
  })
  .meta({ id: 'EvalSummary', description: 'An eval in a list, with its overall result.' })
export type EvalSummary = z.infer<typeof EvalSummary>

export const SampleId = z.string().regex(/^s\d{1,9}$/, 'must be a sample_id that GET /eval/{id}/items returned')

export const CompletionInput = z
  .strictObject({
    sample_id: SampleId.describe('ID of the sample, as `GET /eval/{id}/items` returned it.'),
    completion: z.string().optional().describe('Text that the model generated. Give either this or `messages`.'),
    messages: z.array(Message).min(1).optional().describe('Completion as chat messages, in place of `completion`.'),
    finish_reason: z
      .string()
      .max(64)
      .nullish()
      .describe('Why the generation ended. `length`: the completion was cut off at the token limit.'),
    length_tokens: z.int().min(0).optional().describe('Length of the completion in tokens.'),
  })
  .refine(({ completion, messages }) => (completion === undefined) !== (messages === undefined), {
    path: ['completion'],
    message: 'give either completion or messages',
  })
  .meta({ id: 'CompletionInput', description: 'A completion that you post for a sample of an eval.' })
export type CompletionInput = z.infer<typeof CompletionInput>

export const EvalSample = z
  .strictObject({
    sample_id: SampleId.describe('ID of the sample.'),
    item_id: ItemId,
    task: z.string().describe('Name of the task.'),
    difficulty: Difficulty.nullable().describe('Difficulty of the item; null for library defaults or a config.'),
    status: z
      .enum(['scored', 'unscored', 'missing'])
      .describe('`scored`; `unscored`: the model or the scorer failed; `missing`: there is no completion.'),
    score: z.number().nullable().describe('Score of the answer, in [0, 1]; null if there is none.'),
    answer: z.string().nullable().describe('Answer extracted from the completion; null if there is none.'),
    fault: FormatErrorCode.nullable().describe('Format fault of the completion; null if there is none.'),
    code: UnscoredCode.optional(),
    detail: z.string().optional().describe('Why the sample has no score, in a sentence.'),
    finish_reason: z.string().nullable().describe('Why the generation ended; null if unknown.'),
    length_tokens: Count.nullable().describe('Length of the completion in tokens; null if unknown.'),
    completion: z
      .string()
      .nullable()
      .describe('Text of the completion; null if it is missing or was too long to keep.'),
    reasoning: z.string().optional().describe('Reasoning that the model’s server returned separately.'),
    messages: z.array(Message).optional().describe('Completion as chat messages, if it was posted as such.'),
    expected: z
      .string()
      .nullable()
      .optional()
      .describe(
        'Expected answer; null if the library has none. Only for the role admin, and for scored samples once the eval has ended.',
      ),
  })
  .meta({ id: 'EvalSample', description: 'One completion of an eval, with its score.' })
export type EvalSample = z.infer<typeof EvalSample>

export const SampleOrder = z.enum(['suite', 'worst']).meta({
  id: 'SampleOrder',
  description: '`suite`: in the order of the suite; `worst`: the lowest score first, samples without a score last.',
})
export type SampleOrder = z.infer<typeof SampleOrder>

export const SampleFilter = z.strictObject({
  task: z.string().max(64).optional().describe('Only samples of this task.'),
  show: z
    .enum(['all', 'right', 'wrong', 'faults', 'truncated', 'unscored'])
    .default('all')
    .describe(
      'Only samples of this kind. `right`: a score of at least 0.99; `wrong`: a lower score. `faults`: a format fault; `truncated`: cut off at the token limit; `unscored`: without a score.',
    ),
  q: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Only samples with this text in the completion or its reasoning, in any case.'),
})
export type SampleFilter = z.infer<typeof SampleFilter>

export const EvalSamplePage = z
  .strictObject({
    samples: z.array(EvalSample).describe('Samples that match the filters, in the order of `sort`.'),
    next_cursor: z.string().nullable().describe('Value of `cursor` for the next page; null on the last page.'),
    searched: Count.describe('Number of samples that this call examined.'),
    total: Count.describe('Number of samples of the eval.'),
  })
  .meta({ id: 'EvalSamplePage', description: 'A page of the samples of an eval.' })
export type EvalSamplePage = z.infer<typeof EvalSamplePage>

export const SuiteSummary = z
  .strictObject({
    name: z.string().describe('Name of the suite.'),
    version: z.int().describe('Version of the suite.'),
    items: Count.describe('Number of items.'),
    sha256: z.string().describe('Content hash of the suite.'),
    description: z.string().describe('What the suite measures.'),
  })
  .meta({ id: 'SuiteSummary', description: 'A frozen suite in a list.' })
export type SuiteSummary = z.infer<typeof SuiteSummary>

export const Suite = z
  .strictObject({
    ...SuiteSummary.shape,
    engine: z.string().describe('Version of the library.'),
    recipes: z
      .array(z.strictObject({ ...RecipeOutput.shape, id: ItemId }).describe('Recipe and ID of an item.'))
      .describe('Recipes of the items, with item IDs.'),
  })
  .meta({ id: 'Suite', description: 'A frozen list of recipes with a content hash.' })
