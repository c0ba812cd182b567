/** The result of an eval: statistics over its samples, and the frontier of a model. */
import { z } from 'zod'
import { ConfidenceInterval, SampleFailures } from './generation-job.ts'
import { CountByName, JsonObject, NumberByName, TextByName } from './maps.ts'

const NullableNumber = z.number().nullable()
const Count = z.int().min(0)

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
    repeat: JsonObject.describe('Everything that is needed to repeat the eval.'),
  })
  .meta({ id: 'EvalResult', description: 'Result of an eval, as a whole and by category, task and difficulty.' })
export type EvalResult = z.infer<typeof EvalResult>
