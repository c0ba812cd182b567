/** How the mock model behaves: how often it is right, and the shares of all that goes wrong. */
import { z } from 'zod'
import type { KnownItem } from './item-lookup.ts'
import { hashToUnitInterval, pickWeighted } from './seeded-random.ts'

const shareSchema = z.number().min(0).max(1).default(0)

/** The chance of a right answer: at difficulty 0 (and where an item has none), and at difficulty 1; straight between. */
export const AccuracyRange = z.strictObject({ easiest: z.number().min(0).max(1), hardest: z.number().min(0).max(1) })
export type AccuracyRange = z.infer<typeof AccuracyRange>

export const MockModelBehavior = z
  .strictObject({
    seed: z.int().default(0).describe('Another seed, other luck'),
    accuracy: z.number().min(0).max(1).default(0.6).describe('Chance of a right answer, of completions that are whole'),
    accuracyAtHardest: z.number().min(0).max(1).optional().describe('The same at difficulty 1; none: no difference'),
    tasks: z.record(z.string(), AccuracyRange).default({}).describe('Other chances for some tasks'),
    formatFaults: shareSchema.describe('Completions without an answer that can be read'),
    truncations: shareSchema.describe('Completions cut in the middle, finish_reason `length`'),
    rejections: shareSchema.describe('Items for which every request is refused with 400'),
    rateLimits: shareSchema.describe('Requests answered 429 with Retry-After'),
    serverErrors: shareSchema.describe('Requests answered 500'),
    brokenJson: shareSchema.describe('Requests answered 200 with half a JSON document'),
    closedConnections: shareSchema.describe('Requests whose connection is closed, before the answer or in it'),
    slowRequests: shareSchema.describe('Requests that take `slowMs` longer'),
    slowMs: z.int().min(0).default(2000),
    latencyMs: z.int().min(0).default(0).describe('What every answer takes at least'),
    retryAfterS: z.int().min(0).default(1).describe('Retry-After of a 429'),
    meanTokens: z.int().min(10).default(120).describe('Tokens of thinking, about; more on harder items'),
    reasoning: z
      .enum(['inline', 'reasoning', 'reasoning_content', 'none'])
      .default('inline')
      .describe('Where the thinking goes: into <think> tags, a field of its own, or nowhere'),
  })
  .refine((b) => b.formatFaults + b.truncations <= 1, 'format faults and truncations are more than all completions')
  .refine(
    (b) => b.rateLimits + b.serverErrors + b.brokenJson + b.closedConnections <= 1,
    'rate limits, server errors, broken JSON and closed connections are more than all requests',
  )
export type MockModelBehavior = z.infer<typeof MockModelBehavior>

const FORMAT_ERRORS = ['no_answer', 'unclosed_answer', 'unclosed_think'] as const

/** What becomes of one sample. */
export type SampleOutcome =
  | { kind: 'right' }
  | { kind: 'wrong' }
  | { kind: 'truncated' }
  | { kind: 'format_fault'; fault: (typeof FORMAT_ERRORS)[number] }

/** The outcome of a sample of an item: a pure function, so that a test knows all scores before it asks. */
export function drawOutcome(behaviour: MockModelBehavior, item: KnownItem, sample: number): SampleOutcome {
  const draw = (what: string) => hashToUnitInterval(behaviour.seed, item.id, sample, what)
  const { truncations, formatFaults } = behaviour
  switch (pickWeighted(draw('form'), { truncated: truncations, format_fault: formatFaults })) {
    case 'truncated':
      return { kind: 'truncated' }
    case 'format_fault':
      return { kind: 'format_fault', fault: FORMAT_ERRORS[Math.floor(draw('fault') * 3)] ?? 'no_answer' }
    default:
      return { kind: draw('accuracy') < getAccuracy(behaviour, item) ? 'right' : 'wrong' }
  }
}

function getAccuracy(
  { tasks, accuracy, accuracyAtHardest }: MockModelBehavior,
  { task, difficulty }: KnownItem,
): number {
  const { easiest, hardest } = tasks[task] ?? { easiest: accuracy, hardest: accuracyAtHardest ?? accuracy }
  return easiest + (hardest - easiest) * (difficulty ?? 0)
}

export type InjectedFailure = 'rejected' | 'rate_limited' | 'server_error' | 'broken_json' | 'closed'

/** What befalls the nth request for a question, if anything. */
export function drawInjectedFailure(
  behaviour: MockModelBehavior,
  question: string,
  attempt: number,
): InjectedFailure | undefined {
  const { seed, rejections, rateLimits, serverErrors, brokenJson, closedConnections } = behaviour
  if (hashToUnitInterval(seed, question, 'rejection') < rejections) return 'rejected'
  return pickWeighted(hashToUnitInterval(seed, question, attempt, 'mishap'), {
    rate_limited: rateLimits,
    server_error: serverErrors,
    broken_json: brokenJson,
    closed: closedConnections,
  })
}

/** How long the nth request for a question is held, in milliseconds. */
export function drawDelayMs(
  { seed, latencyMs, slowMs, slowRequests }: MockModelBehavior,
  question: string,
  attempt: number,
): number {
  return latencyMs + (hashToUnitInterval(seed, question, attempt, 'delay') < slowRequests ? slowMs : 0)
}
