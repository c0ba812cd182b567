/** The result of an eval as a file of `.eval_results/` in a model repository on the Hugging Face hub. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Eval, EvalResult } from '@reasoning-gym-server/contract/eval'
import { z } from 'zod'

export const HubBenchmark = z.strictObject({
  dataset: z
    .string()
    .regex(/^[\w.-]{1,96}\/[\w.-]{1,96}$/, 'must be the ID of a data set on the hub, such as `my-org/my-benchmark`')
    .optional()
    .describe(
      'Required: ID of the data set on the hub that is the benchmark of this suite, such as `my-org/my-benchmark`.',
    ),
  task_id: z
    .string()
    .regex(/^[\w.-]{1,96}$/, 'must consist of letters, digits, `_`, `.` and `-`')
    .optional()
    .describe('ID of the task in the `eval.yaml` of the benchmark. Default: the name of the suite.'),
})
export type HubBenchmark = z.infer<typeof HubBenchmark>

/**
 * Renders YAML as https://huggingface.co/docs/hub/eval-results defines it. JSON strings are YAML strings. Throws
 * `invalid_request` for an eval whose mean score does not measure the model.
 */
export function renderHubResults(view: Eval, { dataset, task_id }: HubBenchmark): string {
  const { suite, status, result, ended_at } = view
  if (dataset === undefined) {
    const errors = [{ path: 'dataset', message: 'missing: the ID of the benchmark on the hub' }]
    throw new ServiceError('invalid_request', 'The file must name its benchmark. Give its ID as `dataset`.', { errors })
  }
  if (status !== 'done') throw cannotPublish(view, `it is ${status}, and only an eval that is done measures a model`)
  if (result?.frontier) throw cannotPublish(view, 'a frontier eval chooses its items by the answers of the model')
  if (result?.mean_score == null) throw cannotPublish(view, 'none of its samples has a score')
  const lines = [
    '- dataset:',
    `    id: ${JSON.stringify(dataset)}`,
    `    task_id: ${JSON.stringify(task_id ?? suite.name)}`,
    `  value: ${result.mean_score.toFixed(6)}`,
    ...(ended_at === null ? [] : [`  date: ${JSON.stringify(ended_at)}`]),
    `  notes: ${JSON.stringify(describeMeasurement(view, result))}`,
  ]
  return `${lines.join('\n')}\n`
}

function describeMeasurement({ suite, samples_per_item }: Eval, result: EvalResult): string {
  const { confidence_95, unscored, missing, repeat } = result
  const engine = z.object({ library: z.string(), version: z.string() }).safeParse(repeat.engine).data
  const { scoring } = z.object({ scoring: z.string().optional() }).parse(repeat)
  return [
    `mean score in [0, 1] of ${suite.items} items with ${samples_per_item} ${samples_per_item === 1 ? 'sample' : 'samples'} each`,
    ...(confidence_95 ? [`95% interval [${confidence_95.map((bound) => bound.toFixed(3)).join(', ')}]`] : []),
    ...(unscored + missing > 0 ? [`${unscored + missing} samples without a score left out`] : []),
    ...(scoring === undefined ? [] : [`${scoring} scoring`]),
    ...(engine === undefined ? [] : [`${engine.library} ${engine.version}`]),
    `suite ${suite.name}${suite.sha256 === null ? '' : `, SHA-256 ${suite.sha256}`}`,
  ].join('; ')
}

function cannotPublish({ id }: Eval, reason: string): ServiceError {
  return new ServiceError(
    'invalid_request',
    `The eval ${id} has no result for the hub: ${reason}. Choose another eval.`,
  )
}
