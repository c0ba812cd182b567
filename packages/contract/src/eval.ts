/** An eval: one model measured on one suite, the statistics of its result, and the comparison of two evals. */
import { z } from 'zod'
import { Count, CountByName, JsonObject, NullableNumber, NullableText, NumberByName, TextByName } from './common.ts'
import { NOT_FOUND_CODES } from './errors.ts'
import { SampleId } from './eval-sample.ts'
import {
  ConfidenceInterval,
  EvalLabels,
  GenerationJobStatus,
  GenerationParamFields,
  GenerationProgress,
  GradingFields,
  JobFailure,
  JobTimes,
  ModelInput,
  ModelLocation,
  SampleFailures,
} from './generation-job.ts'
import { ItemId } from './item-id.ts'
import { Difficulty } from './recipe.ts'
import { RunName } from './rollout.ts'
import { CustomSuite, FrontierSuite, isFrontier, SuiteName } from './suite.ts'
import { FeedbackLevel, MAX_TRIES, RetryPrompt } from './verdict.ts'

const StandardErrors = z.record(z.string(), NullableNumber).meta({
  id: 'StandardErrors',
  description: 'Standard errors over the items, by k; null for fewer than two items.',
})

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
      .meta({ id: 'TaskSamplingError', description: 'Uncertainty over tasks.' })
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
    pass_at: NumberByName.describe(
      'Estimate of pass@k, by k: probability that at least one of k samples is correct (unbiased estimator).',
    ),
    pass_at_stderr: StandardErrors,
    pass_all: NumberByName.describe('Estimate of pass^k, by k: probability that all of k samples are correct.'),
    pass_all_stderr: StandardErrors,
    majority_at: NumberByName.describe(
      'Estimate of maj@k, by k: probability that the most common answer of k samples is correct.',
    ),
    majority_at_stderr: StandardErrors,
    repeated_items: Count.describe(
      'Number of items behind `pass_at`, `pass_all` and `majority_at`: those with as many scored samples as the item with the most.',
    ),
    format_faults: NullableNumber.describe('Share of the scored samples with a format fault; null if there are none.'),
    faults: CountByName.describe('Number of samples by format fault.'),
    n: Count.describe('Number of samples requested.'),
    items: Count.describe('Number of items.'),
    scored: Count.describe('Number of scored samples.'),
    unscored: Count.describe('Number of samples without a score because the model or the scorer failed.'),
    missing: Count.describe('Number of samples without a completion.'),
    truncated: Count.describe('Number of completions cut off at the token limit.'),
    mean_tokens: NullableNumber.describe('Mean length of the completions in tokens; null if unknown.'),
    total_tokens: NullableNumber.describe(
      'Number of tokens of the completions whose length is known; null if none is.',
    ),
    recovery: z
      .strictObject({
        first_try_accuracy: NullableNumber.describe('Share of the scored samples that were right at the first try.'),
        rate: NullableNumber.describe('Share of the samples wrong at the first try that a later try got right.'),
        confidence_95: ConfidenceInterval.describe('95% Wilson interval of `rate`.'),
        wrong_at_first: Count.describe('Number of samples behind `rate`.'),
      })
      .meta({ id: 'RecoveryStatistics', description: 'What further tries gained.' })
      .optional()
      .describe('What further tries gained, in evals with several tries. `accuracy` is that after the last one.'),
  })
  .meta({ id: 'EvalStatistics', description: 'Scores and counts of a set of samples.' })
export type EvalStatistics = z.infer<typeof EvalStatistics>

const StatisticsByName = z
  .record(z.string(), EvalStatistics)
  .meta({ id: 'EvalStatisticsByName', description: 'Statistics by name.' })

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
            cap: z
              .number()
              .nullable()
              .default(null)
              .describe('Share of the answers in the right format, in [0, 1]; null in results of earlier versions.'),
            beyond: z
              .enum(['below_ladder', 'above_ladder'])
              .nullable()
              .describe(
                '`above_ladder`: the model most likely exceeds the hardest rung; `below_ladder`: it most likely fails the easiest rung; null: neither.',
              ),
            items: Count.describe('Number of items with a score.'),
          })
          .meta({ id: 'FrontierTaskResult', description: 'Result of one task.' }),
      )
      .describe('Result of each task, by name.'),
    left_out: TextByName.describe('Reason for each task without a result, by name.'),
  })
  .meta({ id: 'FrontierResult', description: 'Difficulty at which a frontier eval found the model on each ladder.' })
export type FrontierResult = z.infer<typeof FrontierResult>

export const TwinResult = z
  .strictObject({
    n: Count.describe('Number of items with a score, of the suite and of its twin.'),
    mean_score: NullableNumber.describe('Mean score on the twin, over these items.'),
    accuracy: NullableNumber.describe('Share of the scored samples of the twin with a score of at least 0.99.'),
    difference: NullableNumber.describe('Mean score on the suite minus the mean score on its twin.'),
    stderr: NullableNumber.describe('Standard error of `difference`; null if unknown.'),
    confidence_95: ConfidenceInterval.describe('95% interval of `difference`; null for fewer than six items.'),
    p: NullableNumber.describe(
      'Two-sided p-value of the hypothesis that the model does as well on the twin, by a sign-flip test; null for fewer than six items.',
    ),
    smallest_detectable: NullableNumber.describe(
      'Smallest true difference that this eval detects with a power of 80%; null if unknown.',
    ),
    verdict: z
      .enum(['memory_shown', 'no_memory_shown', 'too_few_items'])
      .describe('`memory_shown`: the model does better on the suite than on its twin, and p is below 0.05.'),
    tasks: NumberByName.describe('`difference` by task.'),
  })
  .meta({
    id: 'TwinResult',
    description:
      'What the model does on items that it cannot have seen before, of the same tasks and configs as those of the suite.',
  })
export type TwinResult = z.infer<typeof TwinResult>

const TWIN_VERDICTS: Record<TwinResult['verdict'], string> = {
  memory_shown: 'the model remembers items of the suite',
  no_memory_shown: 'no memory of the suite is shown',
  too_few_items: 'too few items to tell memory from skill',
}

/** The result on the twin in one sentence. */
export function describeTwin({ mean_score, difference, confidence_95, p, verdict }: TwinResult): string {
  const interval = confidence_95 ? `, 95% interval [${confidence_95.map((bound) => bound.toFixed(3)).join(', ')}]` : ''
  const chance = p === null ? '' : `, p = ${p < 0.001 ? p.toExponential(0) : p.toFixed(3)}`
  return `Twin: mean score ${mean_score?.toFixed(3) ?? '–'} on new items of the same kinds; suite minus twin ${difference?.toFixed(3) ?? '–'}${interval}${chance}: ${TWIN_VERDICTS[verdict]}.`
}

export const EvalResult = z
  .strictObject({
    ...EvalStatistics.shape,
    warnings: z.array(z.string()).describe('Reasons to read the result with care, each a sentence.'),
    failures: SampleFailures,
    categories: StatisticsByName.describe('Statistics by category.'),
    tasks: z
      .record(
        z.string(),
        z
          .strictObject({ ...EvalStatistics.shape, category: z.string().describe('Category of the task.') })
          .meta({ id: 'EvalTaskResult', description: 'Statistics of one task.' }),
      )
      .describe('Statistics by task.'),
    difficulties: StatisticsByName.describe(
      'Statistics by requested difficulty; `default` stands for the library’s defaults.',
    ),
    frontier: FrontierResult.nullable().describe('Result of a frontier eval; null for other evals.'),
    twin: TwinResult.nullable()
      .default(null)
      .describe('Result on the twin of the suite; null for evals without one, and for results of earlier versions.'),
    repeat: JsonObject.describe('Everything that is needed to repeat the eval.'),
  })
  .meta({ id: 'EvalResult', description: 'Result of an eval, as a whole and by category, task and difficulty.' })
export type EvalResult = z.infer<typeof EvalResult>

export const EvalId = z
  .string()
  .regex(/^eval-[0-9a-f]{12,32}$/, 'must be an ID that POST /eval returned')
  .meta({ id: 'EvalId', description: 'ID of an eval.', examples: ['eval-0123456789abcdef0123'] })
  .register(NOT_FOUND_CODES, { code: 'unknown_eval', kind: 'eval' }) // last: every other method returns a copy that is not registered

export const EvalInput = z
  .strictObject({
    model: ModelInput.nullable().describe('Model to measure. null: you post the completions yourself.'),
    suite: z
      .union([SuiteName, CustomSuite, FrontierSuite])
      .default('original')
      .describe(
        'Suite to measure on: the name of a frozen suite; `run` for the tasks of the run; `frontier` for the frontier of all tasks; or an object that describes a suite of your own.',
      ),
    twin: z
      .boolean()
      .default(false)
      .describe(
        'If true, the eval has a twin of each item of the frozen suite: the same task and config, with a seed that is drawn now. `twin` of the result compares both, which tells memory from skill. The first half of the samples, by the number in `sample_id`, belongs to the suite, the second half, in the same order, to the twins. Of a model that knows 15% of the items by heart, 20 items with four samples show it in 7% of evals, 100 with one in 16%, and 250 with four in 60%.',
      ),
    samples_per_item: z.int().min(1).max(256).default(1).describe('Number of completions per item.'),
    ...GenerationParamFields,
    ...GradingFields,
    tries: z
      .int()
      .min(1)
      .max(MAX_TRIES)
      .default(1)
      .describe(
        'Tries at an item. After a wrong one, the model reads `retry_prompt` and answers again, unless its answers have a megabyte by then.',
      ),
    feedback: FeedbackLevel.optional().describe('Feedback between tries. Defaults to the setting of the run.'),
    retry_prompt: RetryPrompt.optional(),
    run: RunName.optional().describe(
      'Run whose prompt and grading rules apply where the request sets none, and whose evals the result is listed with.',
    ),
    step: Count.optional().describe('Training step of the model.'),
    labels: EvalLabels.optional(),
  })
  .refine(({ suite, run }) => suite !== 'run' || run !== undefined, {
    path: ['run'],
    message: 'missing: the suite `run` requires the name of the run',
  })
  .refine(({ suite, twin }) => !twin || (typeof suite === 'string' && suite !== 'run' && suite !== 'frontier'), {
    path: ['twin'],
    message: 'must be false unless `suite` is the name of a frozen suite',
  })
  .refine(({ suite, model }) => !isFrontier(suite) || model !== null, {
    path: ['model'],
    message: 'must not be null: a frontier eval chooses its items from the answers, so the server must call the model',
  })
  .refine(({ tries, model, suite }) => tries === 1 || (model !== null && !isFrontier(suite)), {
    path: ['tries'],
    message: 'must be 1 without a model and for a frontier eval',
  })
  .refine(({ suite, samples_per_item }) => !isFrontier(suite) || samples_per_item === 1, {
    path: ['samples_per_item'],
    message: 'must be 1 for a frontier eval; raise `n` of the suite instead',
  })
  .meta({ id: 'EvalInput', description: 'Request to measure a model on a suite.' })
export type EvalInput = z.infer<typeof EvalInput>

/** Nearly greedy for one sample per item; several samples need variety. */
export function getDefaultTemperature({ samples_per_item }: Pick<EvalInput, 'samples_per_item'>): number {
  return samples_per_item > 1 ? 1 : 0.1
}

export const EvalSuite = z
  .strictObject({
    name: z.string().describe('Name of the suite.'),
    sha256: NullableText.describe('Content hash of the suite; null until all its items are known.'),
    items: Count.describe('Number of items.'),
  })
  .meta({ id: 'EvalSuite', description: 'Suite that an eval measures on.' })

const evalSummaryFields = {
  id: EvalId,
  status: GenerationJobStatus,
  model: ModelLocation.nullable().describe('Model that is measured; null if the completions are posted.'),
  suite: EvalSuite.describe('Suite that the model is measured on.'),
  samples_per_item: Count.describe('Number of completions per item.'),
  run: NullableText.describe('Run that the eval belongs to; null if there is none.'),
  step: z.int().nullable().describe('Training step of the model; null if not given.'),
  labels: z.union([z.array(z.string()), TextByName]).describe('Labels that were given.'),
  ...JobTimes,
  progress: GenerationProgress,
  failures: SampleFailures,
  detail: JobFailure,
}

export const Eval = z
  .strictObject({
    ...evalSummaryFields,
    result: EvalResult.nullable().describe('Result; null until the eval has ended.'),
  })
  .meta({ id: 'Eval', description: 'An eval with its full result.' })
export type Eval = z.infer<typeof Eval>

export const EvalSummary = z
  .strictObject({
    ...evalSummaryFields,
    result: EvalStatistics.nullable().describe('Overall result; null until the eval has ended.'),
    difficulty_at_half: NullableNumber.describe('Overall result of a frontier eval; null for other evals.'),
  })
  .meta({ id: 'EvalSummary', description: 'An eval in a list, with its overall result.' })
export type EvalSummary = z.infer<typeof EvalSummary>

const DifferenceFields = z.strictObject({
  n: Count.describe('Number of items with a score in both evals.'),
  difference: NullableNumber.describe(
    'Mean over the items of the score in `a` minus the score in `b`; null if there are none.',
  ),
  stderr: NullableNumber.describe('Standard error of `difference`; null if unknown.'),
  confidence_95: ConfidenceInterval.describe(
    '95% interval of `difference`, within −1 and 1; null for fewer than six items.',
  ),
  p: NullableNumber.describe(
    'Two-sided p-value of the hypothesis of no difference, by a sign-flip test; null for fewer than six items.',
  ),
  smallest_detectable: NullableNumber.describe(
    'Smallest true difference that this comparison detects with a power of 80%; null if unknown.',
  ),
  guess_floor: NullableNumber.describe('Mean guess floor of these items; null if the evals use different scoring.'),
  lift_difference: NullableNumber.describe('Difference of the lifts: difference / (1 − guess_floor), in [−2, 2].'),
  lift_difference_confidence_95: ConfidenceInterval.describe('95% interval of `lift_difference`; null if unknown.'),
  only_a_right: Count.describe('Number of items that only the first eval answers correctly.'),
  only_b_right: Count.describe('Number of items that only the second eval answers correctly.'),
})

const ComparedEval = z
  .strictObject({
    ...EvalSummary.pick({ id: true, model: true, run: true, step: true, labels: true, created_at: true }).shape,
    mean_score: NullableNumber.describe(
      'Mean score over the items with a score in both evals; null if there are none.',
    ),
    lift: NullableNumber.describe(
      'Floor-corrected mean score over the items with a score in both evals; null if unknown.',
    ),
  })
  .meta({ id: 'ComparedEval', description: 'One of the two evals of a comparison.' })

export const EvalComparison = z
  .strictObject({
    a: ComparedEval.describe('First eval.'),
    b: ComparedEval.describe('Second eval.'),
    suite: EvalSuite.describe('Suite of both evals.'),
    ...DifferenceFields.shape,
    tasks: z
      .record(
        z.string(),
        z
          .strictObject({
            ...DifferenceFields.shape,
            p_corrected: NullableNumber.describe(
              'Value of `p` corrected for the number of tasks by Holm’s method; null if there is none.',
            ),
            significant: z.boolean().describe('Whether `p_corrected` is below 0.05.'),
            verdict: z
              .enum(['a_better', 'b_better', 'no_difference_shown', 'too_few_items'])
              .describe('Outcome for the task. `too_few_items`: fewer than six, which no test can distinguish.'),
          })
          .meta({ id: 'TaskComparison', description: 'Paired differences on the items of one task.' }),
      )
      .describe('Comparison by task.'),
  })
  .meta({ id: 'EvalComparison', description: 'Paired comparison of two evals, in total and by task.' })
export type EvalComparison = z.infer<typeof EvalComparison>

const RightIn = z
  .enum(['a', 'b'])
  .describe(
    'The eval in which more than half of the scored samples of the item are correct (a score of at least 0.99).',
  )

export const FlippedSide = z
  .strictObject({
    sample_id: SampleId.describe('First sample with this result.'),
    score: z.number().describe('Mean score of the item’s samples.'),
    samples: z.int().min(1).describe('Number of scored samples of the item.'),
    answer: NullableText.describe('Answer extracted from that sample; null if there is none.'),
  })
  .meta({ id: 'FlippedSide', description: 'Result of an item in one of two evals.' })
export type FlippedSide = z.infer<typeof FlippedSide>

export const FlippedItem = z
  .strictObject({
    item_id: ItemId,
    task: z.string().describe('Name of the task.'),
    difficulty: Difficulty.nullable().describe('Difficulty of the item; null for library defaults or a config.'),
    right_in: RightIn,
    a: FlippedSide.describe('Result in the first eval.'),
    b: FlippedSide.describe('Result in the second eval.'),
  })
  .meta({ id: 'FlippedItem', description: 'An item that one eval answers correctly and the other does not.' })
export type FlippedItem = z.infer<typeof FlippedItem>
