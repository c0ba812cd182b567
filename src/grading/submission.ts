/** What a model gave for an item, in any form in which clients send it, and the answer that it holds. */
import type { Message, Rollout } from '@reasoning-gym-server/contract/rollout'
import type { Extraction } from '@reasoning-gym-server/contract/verdict'
import { type ExtractionResult, extractAnswer, extractFromVisible, getFinalText } from './answer-extraction.ts'

/** The output of a model: text, a conversation, the bare answer, or nothing (the client reports a failed generation). */
export type Submission =
  | { kind: 'completion'; completion: string }
  | { kind: 'messages'; messages: Message[] }
  | { kind: 'answer'; answer: string }
  /** Several tries at the item, in order. */
  | { kind: 'turns'; turns: readonly string[] }
  | { kind: 'nothing'; detail: string }

/** The output of a model as rollouts have it, posted or stored. */
type RolloutOutput = Pick<Rollout, 'completion' | 'messages' | 'turns' | 'finish_reason'>

export type SingleSubmission = Exclude<Submission, { kind: 'turns' }>

export type ModelOutput = Submission | RolloutOutput

/** With these reasons the inference server gave up. The partial text is not a completion, so it is not scored. */
const NO_COMPLETION_REASONS: ReadonlySet<string> = new Set(['abort', 'error'])

export function isSingle(submission: Submission | undefined): submission is SingleSubmission {
  return submission?.kind !== 'turns'
}

export function listTurns(submission: Submission): SingleSubmission[] {
  return isSingle(submission)
    ? [submission]
    : submission.turns.map((completion) => ({ kind: 'completion', completion }))
}

export function hasNoCompletion(finishReason: string | null | undefined): boolean {
  return NO_COMPLETION_REASONS.has(finishReason ?? '')
}

export function readOutput(output: ModelOutput): Submission {
  if ('kind' in output) return output
  const { completion, messages, turns, finish_reason } = output
  if (hasNoCompletion(finish_reason)) return { kind: 'nothing', detail: `finish_reason ${finish_reason}` }
  if (turns) return { kind: 'turns', turns }
  return completion === undefined ? { kind: 'messages', messages: messages ?? [] } : { kind: 'completion', completion }
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

export function extractSubmission(
  submission: Exclude<SingleSubmission, { kind: 'nothing' }>,
  extraction: Extraction,
): ExtractionResult {
  switch (submission.kind) {
    case 'answer':
      return submission
    case 'completion':
      return extractAnswer(submission.completion, extraction)
    case 'messages': {
      const final = getFinalText(submission.messages)
      if (!final) return { kind: 'fault', fault: 'no_answer' }
      if (extraction === 'bare' || !final.hasSeparateReasoning) return extractAnswer(final.text, extraction)
      return extractFromVisible({ text: final.text, hasUnclosedThink: false }, extraction)
    }
  }
}
