/**
 * Several tries at an item in one rollout: which turn decides, what its reward is, and the message between two turns.
 * The first right turn decides, else the last one.
 */
import type { Message } from '@reasoning-gym-server/contract/rollout'
import {
  type Extraction,
  type Feedback,
  isCorrect,
  type ScoredVerdict,
  type Verdict,
} from '@reasoning-gym-server/contract/verdict'
import type { z } from 'zod'
import { getFinalText } from './answer-extraction.ts'
import { WRONG } from './feedback-writer.ts'
import type { Submission } from './submission.ts'

type Scored = z.infer<typeof ScoredVerdict>

/** The verdict of the turn that decides, with what was found of the turns up to it. A turn that could not be scored leaves its rollout unscored. */
export function decideTurn(verdicts: readonly Verdict[]): Verdict {
  const seen: Scored[] = []
  for (const verdict of verdicts) {
    if (verdict.status === 'unscored') return verdict
    seen.push(verdict)
    if (isCorrect(verdict.score)) break
  }
  const deciding = seen.at(-1)
  if (!deciding) throw new Error('a rollout has no turns')
  const turns = seen.map(({ score, answer, fault, feedback }) => ({
    score,
    answer,
    fault,
    ...(feedback && { feedback }),
  }))
  return { ...deciding, turns }
}

/** Lowers the reward for each turn before the one that decided. */
export function discountReward<V extends Scored>(verdict: V, discount: number): void {
  const before = (verdict.turns?.length ?? 1) - 1
  if (before === 0 || discount === 1) return
  const reward = verdict.reward * discount ** before
  verdict.components = { ...verdict.components, try_discount: reward - verdict.reward }
  verdict.reward = reward
}

/** The turns that a run grades: as many as it allows, and the last one of a conversation if it allows one. */
export function limitTurns(submission: Submission, tries: number): Submission {
  if (submission.kind !== 'turns') return submission
  if (tries === 1) return { kind: 'completion', completion: toTurnText(submission, 'strict') }
  return { kind: 'turns', turns: submission.turns.slice(0, tries) }
}

/** The text of a submission, as one of the turns of a rollout. */
export function toTurnText(submission: Submission, extraction: Extraction): string {
  switch (submission.kind) {
    case 'completion':
      return submission.completion
    case 'answer':
      return extraction === 'bare' ? submission.answer : `<answer>${submission.answer}</answer>`
    case 'messages':
      return getFinalText(submission.messages)?.text ?? ''
    case 'turns':
      return submission.turns.at(-1) ?? ''
    case 'nothing':
      return ''
  }
}

/** The message to the model after a wrong turn. */
export function formatRetryPrompt(template: string, feedback: Feedback | undefined): string {
  return template.replaceAll('{feedback}', () => (feedback ?? WRONG).text)
}

/** The conversation of a rollout with several turns. */
export function buildTurnMessages(turns: readonly string[], verdict: Verdict | undefined, template: string): Message[] {
  const seen = verdict?.status === 'scored' ? (verdict.turns ?? []) : []
  return turns.flatMap((content, k): Message[] => {
    const reply = { role: 'assistant', content }
    return k === 0 ? [reply] : [{ role: 'user', content: formatRetryPrompt(template, seen[k - 1]?.feedback) }, reply]
  })
}
