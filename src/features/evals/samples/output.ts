/** Encodes the output of a sample (from the model or the caller) for storage, grades it, and declares the verdict on it. */

import { constants } from 'node:buffer'
import { promisify } from 'node:util'
import { deflateRaw, inflateRawSync } from 'node:zlib'
import { Message } from '@reasoning-gym-server/contract/rollout'
import { FormatFault, UnscoredCode, type Verdict } from '@reasoning-gym-server/contract/verdict'
import { z } from 'zod'
import type { Grader, GradingRules } from '../../../grading/grader.ts'
import { applyFinishReason, readOutput, type Submission } from '../../../grading/submission.ts'
import { unscoredVerdict } from '../../../grading/verdict.ts'
import { SharedUsage } from '../../../platform/shared-usage.ts'
import { hashQuestion } from '../../items/eval-questions.ts'
import { type ItemWithEntry, isMakeFailure } from '../../items/items.ts'
import { ModelResponse } from '../models/response.ts'
import type { GenerationJobRepository } from '../repository.ts'
import type { SuiteItem } from '../suites.ts'
import type { FailureCause } from './failure-reasons.ts'

const deflate = promisify(deflateRaw)

const MAX_ANSWER_CHARS = 1000
const MIB = 1024 * 1024
const MAX_OUTPUT_BYTES = 4 * MIB
/** Limit of all outputs of a job. Those of all jobs together may have EVAL_OUTPUTS_MAX_BYTES. */
const MAX_JOB_BYTES = 256 * MIB
/** Reading the sum takes a few thousand commands if the most jobs are stored that may be. */
const USAGE_CACHE_TTL_MS = 5000
/** First byte of an encoded output; deflated JSON follows. */
const FORMAT_VERSION = 1

export const SampleOutput = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('response'), response: ModelResponse }),
  /** Several tries; all but the last are wrong. */
  z.strictObject({ kind: z.literal('tries'), responses: z.array(ModelResponse).min(2) }),
  /** Completion that the caller supplied. */
  z.strictObject({
    kind: z.literal('external'),
    completion: z.string().optional(),
    messages: z.array(Message).optional(),
    finish_reason: z.string().nullable(),
    length_tokens: z.int().optional(),
  }),
  z.strictObject({ kind: z.literal('failed'), detail: z.string() }),
])
export type SampleOutput = z.infer<typeof SampleOutput>

/** The stored verdict. It is small because a result is aggregated from many. */
export const StoredSampleVerdict = z.strictObject({
  score: z.number().nullable(),
  answer: z.string().nullable(),
  fault: FormatFault.nullable(),
  code: UnscoredCode.optional(),
  detail: z.string().optional(),
  finish_reason: z.string().nullable(),
  length_tokens: z.int().nullable(),
  /** Score of the first try, set if several are allowed. */
  first_score: z.number().optional(),
  /** Set if there was no room for the output. */
  completion_omitted: z.literal(true).optional(),
  /** Hash of the question, set if the suite does not contain it. */
  question_hash: z.string().optional(),
})
export type StoredSampleVerdict = z.infer<typeof StoredSampleVerdict>

/** Returns why the sample has no score; empty if it has one. */
export function listFailureCauses({ code, detail = '' }: StoredSampleVerdict): FailureCause[] {
  return code === undefined ? [] : [{ code, detail }]
}

/** Deflates in another thread, because a large output takes half a second. */
export async function encodeSampleOutput(output: SampleOutput): Promise<Buffer> {
  return Buffer.concat([Buffer.of(FORMAT_VERSION), await deflate(JSON.stringify(output))])
}

/**
 * Decodes an output, if there is one, and returns the size of its JSON. Returns undefined if that exceeds `maxBytes`, without inflating
 * more than that. Throws if another version of the server encoded it.
 */
export function decodeSampleOutput(
  encoded: Buffer | null | undefined,
  maxBytes: number = constants.MAX_LENGTH,
): { output: SampleOutput; bytes: number } | undefined {
  if (!encoded) return undefined
  try {
    const json = inflateRawSync(deflatedPart(encoded), { maxOutputLength: Math.max(1, maxBytes) }) // zlib rejects 0
    return { output: SampleOutput.parse(JSON.parse(json.toString())), bytes: json.byteLength }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw error
  }
}

function deflatedPart(encoded: Buffer): Buffer {
  if (encoded[0] !== FORMAT_VERSION)
    throw new TypeError(`A stored sample output has format ${encoded[0]}; this server reads ${FORMAT_VERSION}`)
  return encoded.subarray(1)
}

function toSampleSubmission(output: SampleOutput): Submission {
  switch (output.kind) {
    case 'failed':
      return { kind: 'nothing', detail: output.detail }
    case 'external':
      return readOutput({
        completion: output.completion,
        messages: output.messages,
        finish_reason: output.finish_reason,
      })
    case 'tries':
      return { kind: 'turns', turns: output.responses.map(({ content }) => content) }
    case 'response': {
      const messages = [buildAssistantMessage(output.response)]
      return applyFinishReason({ kind: 'messages', messages }, output.response.finish_reason)
    }
  }
}

export function buildAssistantMessage({ content, reasoning, tool_calls }: ModelResponse): Message {
  return {
    role: 'assistant',
    content,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(tool_calls && { tool_calls }),
  }
}

function buildStoredVerdict(output: SampleOutput, verdict: Verdict): StoredSampleVerdict {
  const source = getLastResponse(output) ?? output
  const finish_reason = 'finish_reason' in source ? source.finish_reason : null
  const length_tokens = 'length_tokens' in source ? (source.length_tokens ?? null) : null
  if (verdict.status === 'unscored') {
    const { code, detail } = verdict
    return { score: null, answer: null, fault: null, code, detail, finish_reason, length_tokens }
  }
  const { score, answer, fault } = verdict
  return { score, answer: answer?.slice(0, MAX_ANSWER_CHARS) ?? null, fault, finish_reason, length_tokens }
}

/** The model's only or last answer; undefined if the output has none. */
export function getLastResponse(output: SampleOutput): ModelResponse | undefined {
  if (output.kind === 'response') return output.response
  return output.kind === 'tries' ? output.responses.at(-1) : undefined
}

interface SampleToGrade {
  output: SampleOutput
  item: ItemWithEntry
  suiteItem: SuiteItem
  rules: GradingRules
  /** Default: false. */
  hasTries?: boolean
  /** Whether the output is stored. */
  isKept: boolean
}

/** Grades the output. The verdict includes the hash of the question if the suite does not have it. */
export async function gradeSample(
  grader: Grader,
  { output, item, suiteItem, rules, hasTries, isKept }: SampleToGrade,
): Promise<StoredSampleVerdict> {
  const [verdict] = await grader.grade(item.recipe, [toSampleSubmission(output)], rules, { orThrow: true })
  if (!verdict) throw new RangeError('the grader returned no verdict for a submission')
  return {
    ...buildStoredVerdict(output, verdict),
    ...(hasTries && verdict.status === 'scored' && { first_score: verdict.turns?.[0]?.score ?? verdict.score }),
    ...(!isKept && { completion_omitted: true }),
    ...(suiteItem.questionHash === undefined && { question_hash: hashQuestion(item.question) }),
  }
}

/**
 * Returns the verdict for a sample whose item the library cannot make, so that a bad seed costs the eval one sample and
 * not all of them. Returns undefined for any other error, and for a frozen suite, whose items were made before.
 */
export function buildUnmakeableVerdict(error: unknown, { questionHash }: SuiteItem): StoredSampleVerdict | undefined {
  if (!isMakeFailure(error) || questionHash !== undefined) return undefined
  const verdict = unscoredVerdict('generation_failed', error.message)
  return {
    ...buildStoredVerdict({ kind: 'failed', detail: error.message }, verdict),
    question_hash: hashQuestion(''),
  }
}

/** Whether there is room to store one more output, compressed. Without room, only the verdict is stored. */
export class OutputSpace {
  readonly #jobs: Pick<GenerationJobRepository, 'getOutputBytes'>
  readonly #maxBytes: number
  readonly #usage: SharedUsage

  constructor(jobs: Pick<GenerationJobRepository, 'getOutputBytes' | 'sumOutputBytes'>, maxBytes: number) {
    this.#jobs = jobs
    this.#maxBytes = maxBytes
    this.#usage = new SharedUsage(() => jobs.sumOutputBytes(), USAGE_CACHE_TTL_MS)
  }

  /** Whether the output is to be stored, which then counts. Processes may exceed a limit by what they add at once. */
  async reserve(id: string, bytes: number): Promise<boolean> {
    if (bytes > MAX_OUTPUT_BYTES) return false
    if ((await this.#jobs.getOutputBytes(id)) + bytes > MAX_JOB_BYTES) return false
    return this.#usage.addWithin(bytes, this.#maxBytes)
  }
}
