/** What a model gave for an item, in any form in which clients send it, and the answer that it holds. */
import type { Message, Rollout } from '@reasoning-gym-server/contract/rollout'
import { codePointLength } from '@reasoning-gym-server/scorers/python/text'
import {
  type ExtractionResult,
  type ExtractionRules,
  extractAnswer,
  extractFromVisible,
  getFinalText,
  hasUnreadContent,
} from './answer-extraction.ts'
import { hasNoCompletion, isCutOff } from './finish-reason.ts'

/** The output of a model: text, a conversation, the bare answer, or nothing (the client reports a failed generation). */
export type Submission =
  | { kind: 'completion'; completion: string; isCutOff?: boolean }
  | { kind: 'messages'; messages: Message[]; isCutOff?: boolean }
  | { kind: 'answer'; answer: string }
  /** Several tries at the item, in order. */
  | { kind: 'turns'; turns: readonly string[] }
  | { kind: 'nothing'; detail: string }

/** The output of a model as rollouts have it, posted or stored. */
type RolloutOutput = Pick<Rollout, 'completion' | 'messages' | 'turns' | 'finish_reason'>

export type SingleSubmission = Exclude<Submission, { kind: 'turns' }>

export type ModelOutput = Submission | RolloutOutput

export function isSingle(submission: Submission | undefined): submission is SingleSubmission {
  return submission?.kind !== 'turns'
}

export function listTurns(submission: Submission): SingleSubmission[] {
  return isSingle(submission)
    ? [submission]
    : submission.turns.map((completion) => ({ kind: 'completion', completion }))
}

export function readOutput(output: ModelOutput): Submission {
  if ('kind' in output) return output
  const { completion, messages, turns, finish_reason } = output
  if (turns) return applyFinishReason({ kind: 'turns', turns }, finish_reason)
  const submission: Submission =
    completion === undefined ? { kind: 'messages', messages: messages ?? [] } : { kind: 'completion', completion }
  return applyFinishReason(submission, finish_reason)
}

/** The partial text of a failed generation is not a completion, and content of unknown kinds is not an empty one. */
export function applyFinishReason(submission: Submission, finishReason: string | null | undefined): Submission {
  if (hasNoCompletion(finishReason)) return { kind: 'nothing', detail: `finish_reason ${finishReason}` }
  if (submission.kind === 'messages' && hasUnreadContent(submission.messages))
    return { kind: 'nothing', detail: 'no part of the final message has a known type, such as text' }
  const isText = submission.kind === 'completion' || submission.kind === 'messages'
  return isText && isCutOff(finishReason) ? { ...submission, isCutOff: true } : submission
}

export function submissionText(submission: SingleSubmission): string | undefined {
  switch (submission.kind) {
    case 'completion':
      return submission.completion
    case 'answer':
      return submission.answer
    case 'messages':
      return getFinalText(submission.messages)?.text
    case 'nothing':
      return undefined
  }
}

type ReadableSubmission = Exclude<SingleSubmission, { kind: 'nothing' }>

/** An answer of more than `maxChars` code points is a fault. */
export function extractSubmission(
  submission: ReadableSubmission,
  rules: ExtractionRules,
  maxChars: number,
): ExtractionResult {
  const extracted = extractOfAnyLength(submission, rules)
  if (extracted.kind === 'fault' || extracted.answer.length <= maxChars) return extracted
  return codePointLength(extracted.answer) > maxChars ? { kind: 'fault', fault: 'answer_too_long' } : extracted
}

function extractOfAnyLength(submission: ReadableSubmission, rules: ExtractionRules): ExtractionResult {
  if (submission.kind === 'answer') return submission
  const own = submission.isCutOff ? { ...rules, stop: null } : rules
  if (submission.kind === 'completion') return extractAnswer(submission.completion, own)
  const final = getFinalText(submission.messages)
  if (!final) return { kind: 'fault', fault: 'no_answer' }
  return final.hasSeparateReasoning ? extractFromVisible(final.text, own) : extractAnswer(final.text, own)
}
