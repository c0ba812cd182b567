/** The behavior of the mock model: its accuracy, the shares of simulated failures, and reproducible random decisions. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { KnownItem } from './item-lookup.ts'

/** Returns a uniformly distributed number in [0, 1). */
export function hashToUnitInterval(...names: (string | number)[]): number {
  return createHash('sha256').update(JSON.stringify(names)).digest().readUIntBE(0, 6) / 2 ** 48
}

/** Splits [0, 1) into parts of these widths, and returns the part that holds the draw, or undefined for the remainder. */
export function pickWeighted<Name extends string>(draw: number, widths: Record<Name, number>): Name | undefined {
  let edge = 0
  for (const name in widths) {
    edge += widths[name]
    if (draw < edge) return name
  }
  return undefined
}

const Share = z.number().min(0).max(1)
const shareSchema = Share.default(0)

/** Probability of a correct answer at difficulties 0 and 1, interpolated linearly between. Items without a difficulty count as 0. */
export const AccuracyRange = z.strictObject({ easiest: Share, hardest: Share })
export type AccuracyRange = z.infer<typeof AccuracyRange>

export const MockModelBehavior = z
  .strictObject({
    seed: z.int().default(0).describe('Seed of all random decisions.'),
    accuracy: Share.default(0.6).describe('Probability of a correct answer, among well-formed completions.'),
    accuracyAtHardest: Share.optional().describe(
      'Probability of a correct answer at difficulty 1. Default: `accuracy`.',
    ),
    tasks: z.record(z.string(), AccuracyRange).default({}).describe('Probabilities for single tasks.'),
    formatFaults: shareSchema.describe('Share of completions without an answer that can be extracted.'),
    truncations: shareSchema.describe('Share of completions that are truncated, with finish_reason `length`.'),
    rejections: shareSchema.describe('Share of items for which every request returns 400.'),
    rateLimits: shareSchema.describe('Share of requests that return 429 with Retry-After.'),
    serverErrors: shareSchema.describe('Share of requests that return 500.'),
    brokenJson: shareSchema.describe('Share of requests that return 200 and half of a JSON document.'),
    closedConnections: shareSchema.describe(
      'Share of requests whose connection is closed before or during the response.',
    ),
    slowRequests: shareSchema.describe('Share of requests that are delayed by `slowMs`.'),
    slowMs: z.int().min(0).default(2000),
    latencyMs: z.int().min(0).default(0).describe('Minimum time to a response, in milliseconds.'),
    retryAfterS: z.int().min(0).default(1).describe('Retry-After of a 429, in seconds.'),
    meanTokens: z.int().min(10).default(120).describe('Approximate number of reasoning tokens. Harder items get more.'),
    reasoning: z
      .enum(['inline', 'reasoning', 'reasoning_content', 'none'])
      .default('inline')
      .describe(
        'Where the reasoning goes: `inline` puts it into <think> tags, `none` omits it, the others use the field of that name.',
      ),
  })
  .refine(
    (b) => b.formatFaults + b.truncations <= 1,
    'the shares of format faults and truncations must add up to at most 1',
  )
  .refine(
    (b) => b.rateLimits + b.serverErrors + b.brokenJson + b.closedConnections <= 1,
    'the shares of rate limits, server errors, broken JSON and closed connections must add up to at most 1',
  )
export type MockModelBehavior = z.infer<typeof MockModelBehavior>

const FORMAT_FAULTS = ['no_answer', 'unclosed_answer', 'unclosed_think'] as const

/** The outcome of one sample. */
export type SampleOutcome =
  | { kind: 'right' }
  | { kind: 'wrong' }
  | { kind: 'truncated' }
  | { kind: 'format_fault'; fault: (typeof FORMAT_FAULTS)[number] }

/** Draws the outcome of a sample. A pure function, so that tests can compute all scores in advance. */
export function drawOutcome(behavior: MockModelBehavior, item: KnownItem, sample: number): SampleOutcome {
  const draw = (what: string) => hashToUnitInterval(behavior.seed, item.id, sample, what)
  const { truncations, formatFaults } = behavior
  switch (pickWeighted(draw('form'), { truncated: truncations, format_fault: formatFaults })) {
    case 'truncated':
      return { kind: 'truncated' }
    case 'format_fault':
      return { kind: 'format_fault', fault: FORMAT_FAULTS[Math.floor(draw('fault') * 3)] ?? 'no_answer' }
    default:
      return { kind: draw('accuracy') < getAccuracy(behavior, item) ? 'right' : 'wrong' }
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

/** Draws the simulated failure of the nth request for a question, if any. */
export function drawInjectedFailure(
  behavior: MockModelBehavior,
  question: string,
  attempt: number,
): InjectedFailure | undefined {
  const { seed, rejections, rateLimits, serverErrors, brokenJson, closedConnections } = behavior
  if (hashToUnitInterval(seed, question, 'rejection') < rejections) return 'rejected'
  return pickWeighted(hashToUnitInterval(seed, question, attempt, 'mishap'), {
    rate_limited: rateLimits,
    server_error: serverErrors,
    broken_json: brokenJson,
    closed: closedConnections,
  })
}

/** The delay of the nth request for a question, in milliseconds. */
export function drawDelayMs(
  { seed, latencyMs, slowMs, slowRequests }: MockModelBehavior,
  question: string,
  attempt: number,
): number {
  return latencyMs + (hashToUnitInterval(seed, question, attempt, 'delay') < slowRequests ? slowMs : 0)
}
