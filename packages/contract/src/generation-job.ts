/** What evals and collections have in common: the model, how it is called, status, progress and failures. */
import { z } from 'zod'
import { Count, JsonObject, NullableNumber, NullableText, Share } from './common.ts'
import { Extraction, OpensThinking, ScoringMode, Stop, UnscoredCode } from './verdict.ts'

export const ConfidenceInterval = z.array(z.number()).length(2).nullable()

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
  top_p: Share.optional().describe('Nucleus sampling: probability mass to sample from.'),
  request: JsonObject.refine(
    (fields) => RESERVED_REQUEST_FIELDS.every((name) => !(name in fields)),
    `must not set ${RESERVED_REQUEST_FIELDS.join(', ')}: the server sets them`,
  )
    .refine((fields) => JSON.stringify(fields).length <= 100_000, 'must have at most 100,000 characters as JSON')
    .optional()
    .describe('Fields merged into the body of each request to the model.'),
  seed: Count.max(2 ** 31)
    .optional()
    .describe('Sampling seed. Sample k of an item is requested with `seed` + k.'),
  concurrency: z.int().min(1).max(256).default(16).describe('Maximum number of requests in flight.'),
  timeout_s: z.number().min(0.1).max(3600).default(600).describe('Timeout of one request, in seconds.'),
  retries: Count.max(20).default(5).describe('Maximum number of retries of a request that failed temporarily.'),
}

/** How the model is prompted and completions are graded. */
export const GradingFields = {
  extraction: Extraction.optional(),
  stop: Stop.optional(),
  opens_thinking: OpensThinking.optional(),
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
  clarify: z.boolean().optional().describe('If true, prompts end with the `clarification` of their item.'),
}

const Label = z.string().min(1).max(128)
export const EvalLabels = z
  .union([
    z.array(Label).max(32),
    z.record(Label, Label).meta({ id: 'NamedLabels', description: 'Labels that have names.' }),
  ])
  .meta({ id: 'EvalLabels', description: 'Labels of your own: a list of strings, or strings by name.' })

export const GenerationJobStatus = z
  .enum(['queued', 'running', 'done', 'failed', 'cancelled'])
  .meta({ id: 'GenerationJobStatus', description: 'Status of an eval or a collection.' })
export type GenerationJobStatus = z.infer<typeof GenerationJobStatus>

/** Whether an eval or a collection has not ended. */
export function isActive(status: GenerationJobStatus | undefined): boolean {
  return status === 'queued' || status === 'running'
}

export const JobTimes = {
  created_at: z.string().describe('Time of creation, ISO 8601.'),
  started_at: NullableText.describe('Time of the start, ISO 8601; null while queued.'),
  ended_at: NullableText.describe('Time of the end, ISO 8601; null until then.'),
}
export const JobFailure = NullableText.describe('Reason for a failure; null if there is none.')

export const GenerationProgress = z
  .strictObject({
    done: Count.describe('Number of finished samples.'),
    total: Count.describe('Number of samples in all.'),
    failed: Count.describe('Number of finished samples without a score.'),
    mean_score: NullableNumber.describe('Mean score so far; null if there is none.'),
  })
  .meta({ id: 'GenerationProgress', description: 'Progress of an eval or a collection, in samples.' })

export const ModelLocation = z
  .strictObject({
    name: z.string().describe('Name of the model.'),
    base_url: z.string().describe('URL of its server.'),
  })
  .meta({ id: 'ModelLocation', description: 'A model and the server that it runs on.' })

/** Samples that have no score for the same reason. */
export const SampleFailure = z
  .strictObject({
    code: z
      .union([UnscoredCode, z.literal('other')])
      .describe('Why the samples have no score; `other`: the sum of the rarer reasons.'),
    reason: z.string().describe('Reason in words, as of the first of these samples, without request IDs.'),
    count: Count.describe('Number of samples.'),
  })
  .meta({ id: 'SampleFailure', description: 'Samples that have no score for the same reason.' })
export type SampleFailure = z.infer<typeof SampleFailure>

/** Number of failures that are named; the others are summed. */
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
