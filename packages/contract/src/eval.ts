/** An eval: one model measured on one suite. */
import { z } from 'zod'
import { EvalResult, EvalStatistics } from './eval-result.ts'
import {
  EvalLabels,
  GenerationJobStatus,
  GenerationParamFields,
  GenerationProgress,
  GradingFields,
  ModelInput,
  ModelLocation,
  SampleFailures,
} from './generation-job.ts'
import { TextByName } from './maps.ts'
import { NOT_FOUND_CODES } from './problem.ts'
import { RunName } from './rollout.ts'
import { CustomSuite, FrontierSuite, isFrontier, SuiteName } from './suite.ts'

const NullableNumber = z.number().nullable()
const Count = z.int().min(0)

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

export const EvalSuite = z
  .strictObject({
    name: z.string().describe('Name of the suite.'),
    sha256: z.string().nullable().describe('Content hash of the suite; null until all its items are known.'),
    items: Count.describe('Number of items.'),
  })
  .meta({ id: 'EvalSuite', description: 'Suite that an eval measures on.' })

const evalSummaryFields = {
  id: EvalId,
  status: GenerationJobStatus,
  model: ModelLocation.nullable().describe('Model that is measured; null if the completions are posted.'),
  suite: EvalSuite.describe('Suite that the model is measured on.'),
  samples_per_item: Count.describe('Number of completions per item.'),
  run: z.string().nullable().describe('Run that the eval belongs to; null if there is none.'),
  step: z.int().nullable().describe('Training step of the model; null if not given.'),
  labels: z.union([z.array(z.string()), TextByName]).describe('Labels that were given.'),
  created_at: z.string().describe('Time of creation, ISO 8601.'),
  started_at: z.string().nullable().describe('Time of the start, ISO 8601; null while queued.'),
  ended_at: z.string().nullable().describe('Time of the end, ISO 8601; null until then.'),
  progress: GenerationProgress,
  failures: SampleFailures,
  detail: z.string().nullable().describe('Reason for a failure; null if there is none.'),
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
