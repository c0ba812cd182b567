/** A sample of an eval: what came from the model, as it is kept, and what became of it. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Message } from '../../contract/rollout.ts'
import type { FormatErrorCode, UnscoredCode, Verdict } from '../../contract/verdict.ts'
import type { Submission } from '../../grading/grader.ts'
import type { ModelResponse } from './model-client/model-response.ts'

const MAX_ANSWER_CHARS = 1000

/** A model's reply, a caller's completion, or the reason why there is none. */
export type SampleOutput =
  | { kind: 'reply'; reply: ModelResponse }
  | { kind: 'brought'; completion?: string; messages?: Message[]; finish_reason: string | null; length_tokens?: number }
  | { kind: 'failed'; detail: string }

/** What is kept of a verdict: small, so that results are made from many. */
export interface SampleVerdict {
  score: number | null
  answer: string | null
  fault: FormatErrorCode | null
  code?: UnscoredCode
  detail?: string
  finish_reason: string | null
  length_tokens: number | null
  /** Hash of the question, where the suite does not have it. */
  question?: string
}

export function encodeSampleOutput(text: SampleOutput): Buffer {
  return deflateRawSync(JSON.stringify(text))
}

export function decodeSampleOutput(packed: Buffer): SampleOutput {
  return JSON.parse(inflateRawSync(packed).toString()) as SampleOutput // packed above
}

/** With the bytes of its JSON; undefined if these are over `most`, and then no more than that is unpacked. */
export function decodeSampleOutputWithin(
  packed: Buffer,
  most: number,
): { text: SampleOutput; bytes: number } | undefined {
  try {
    const json = inflateRawSync(packed, { maxOutputLength: Math.max(1, most) }) // 0 is refused as no length
    return { text: JSON.parse(json.toString()) as SampleOutput, bytes: json.byteLength } // packed above
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw error
  }
}

const NO_COMPLETION_REASONS = new Set(['abort', 'error'])

/** What is to be judged. */
export function toSampleSubmission(text: SampleOutput): Submission {
  switch (text.kind) {
    case 'failed':
      return { kind: 'nothing', detail: text.detail }
    case 'brought':
      if (text.finish_reason !== null && NO_COMPLETION_REASONS.has(text.finish_reason))
        return { kind: 'nothing', detail: `finish_reason ${text.finish_reason}` }
      return text.completion === undefined
        ? { kind: 'messages', messages: text.messages ?? [] }
        : { kind: 'completion', completion: text.completion }
    case 'reply': {
      const { finish_reason } = text.reply
      if (finish_reason !== null && NO_COMPLETION_REASONS.has(finish_reason))
        return { kind: 'nothing', detail: `finish_reason ${finish_reason}` }
      return { kind: 'messages', messages: [buildAssistantMessage(text.reply)] }
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

export function buildSampleVerdict(text: SampleOutput, verdict: Verdict): SampleVerdict {
  const told = text.kind === 'reply' ? text.reply : text
  const finish_reason = 'finish_reason' in told ? told.finish_reason : null
  const length_tokens = 'length_tokens' in told ? (told.length_tokens ?? null) : null
  if (verdict.status === 'unscored') {
    const { code, detail } = verdict
    return { score: null, answer: null, fault: null, code, detail, finish_reason, length_tokens }
  }
  const { score, answer, fault } = verdict
  return { score, answer: answer?.slice(0, MAX_ANSWER_CHARS) ?? null, fault, finish_reason, length_tokens }
}
