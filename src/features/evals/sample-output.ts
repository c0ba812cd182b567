/** Encodes the output of a sample (from the model or the caller) for storage, and declares the verdict on it. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { Message } from '@reasoning-gym-server/contract/rollout'
import { FormatErrorCode, UnscoredCode, type Verdict } from '@reasoning-gym-server/contract/verdict'
import { z } from 'zod'
import { hasNoCompletion } from '../../grading/finish-reason.ts'
import type { Submission } from '../../grading/grader.ts'
import { ModelResponse } from './model-client/model-response.ts'
import type { FailureCause } from './sample-failures.ts'

const MAX_ANSWER_CHARS = 1000
/** First byte of an encoded output; deflated JSON follows. */
const FORMAT_VERSION = 1

export const SampleOutput = z.discriminatedUnion('kind', [
  /** Response of the model. */
  z.strictObject({ kind: z.literal('response'), response: ModelResponse }),
  /** Completion that the caller supplied. */
  z.strictObject({
    kind: z.literal('external'),
    completion: z.string().optional(),
    messages: z.array(Message).optional(),
    finish_reason: z.string().nullable(),
    length_tokens: z.int().optional(),
  }),
  /** Failure to get a completion. */
  z.strictObject({ kind: z.literal('failed'), detail: z.string() }),
])
export type SampleOutput = z.infer<typeof SampleOutput>

/** The stored verdict. It is small because a result is aggregated from many. */
export const SampleVerdict = z.strictObject({
  score: z.number().nullable(),
  answer: z.string().nullable(),
  fault: FormatErrorCode.nullable(),
  code: UnscoredCode.optional(),
  detail: z.string().optional(),
  finish_reason: z.string().nullable(),
  length_tokens: z.int().nullable(),
  /** Hash of the question, set if the suite does not contain it. */
  question_hash: z.string().optional(),
})
export type SampleVerdict = z.infer<typeof SampleVerdict>

/** Returns why the sample has no score; empty if it has one. */
export function listFailureCauses({ code, detail = '' }: SampleVerdict): FailureCause[] {
  return code === undefined ? [] : [{ code, detail }]
}

export function encodeSampleOutput(output: SampleOutput): Buffer {
  return Buffer.concat([Buffer.of(FORMAT_VERSION), deflateRawSync(JSON.stringify(output))])
}

/** Decodes an output. Throws if another version of the server encoded it. */
export function decodeSampleOutput(encoded: Buffer): SampleOutput {
  return SampleOutput.parse(JSON.parse(inflateRawSync(deflatedPart(encoded)).toString()))
}

/**
 * Decodes an output and returns the size of its JSON. Returns undefined if that exceeds `maxBytes`, without inflating
 * more than that.
 */
export function decodeSampleOutputWithin(
  encoded: Buffer,
  maxBytes: number,
): { output: SampleOutput; bytes: number } | undefined {
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

/** Converts an output to the submission for the grader. */
export function toSampleSubmission(output: SampleOutput): Submission {
  switch (output.kind) {
    case 'failed':
      return { kind: 'nothing', detail: output.detail }
    case 'external':
      if (hasNoCompletion(output.finish_reason))
        return { kind: 'nothing', detail: `finish_reason ${output.finish_reason}` }
      return output.completion === undefined
        ? { kind: 'messages', messages: output.messages ?? [] }
        : { kind: 'completion', completion: output.completion }
    case 'response': {
      const { finish_reason } = output.response
      if (hasNoCompletion(finish_reason)) return { kind: 'nothing', detail: `finish_reason ${finish_reason}` }
      return { kind: 'messages', messages: [buildAssistantMessage(output.response)] }
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

export function buildSampleVerdict(output: SampleOutput, verdict: Verdict): SampleVerdict {
  const source = output.kind === 'response' ? output.response : output
  const finish_reason = 'finish_reason' in source ? source.finish_reason : null
  const length_tokens = 'length_tokens' in source ? (source.length_tokens ?? null) : null
  if (verdict.status === 'unscored') {
    const { code, detail } = verdict
    return { score: null, answer: null, fault: null, code, detail, finish_reason, length_tokens }
  }
  const { score, answer, fault } = verdict
  return { score, answer: answer?.slice(0, MAX_ANSWER_CHARS) ?? null, fault, finish_reason, length_tokens }
}
