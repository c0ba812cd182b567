/** Counts the distinct answers of a group and finds the most common ones. */
import { hash } from 'node:crypto'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import { entropyOfCounts } from '../../grading/statistics.ts'
import { type GroupOutcome, MAX_COUNTED_ANSWERS } from '../runs/group-outcome.ts'

/** Number of characters that are hashed. Longer texts count as equal if they agree up to here and in length. */
const MAX_HASHED_CHARS = 4096

export type AnswerCounts = Pick<GroupOutcome, 'scored' | 'answers' | 'distinct' | 'entropy' | 'counts' | 'shown'>

/** Counts scored answers only. Unscored rollouts are left out, and format errors have no answer. */
export function countAnswers(verdicts: readonly GroupVerdict[]): AnswerCounts {
  const counts = new Map<string, number>()
  let [scored, answers] = [0, 0]
  for (const verdict of verdicts) {
    if (verdict.status !== 'scored') continue
    scored++
    if (verdict.answer === null) continue
    answers++
    counts.set(verdict.answer, (counts.get(verdict.answer) ?? 0) + 1)
  }
  const common = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, MAX_COUNTED_ANSWERS)
  return {
    scored,
    answers,
    distinct: counts.size,
    entropy: entropyOfCounts([...counts.values()]),
    counts: common.map(([text, count]) => ({ hash: hashText(text), count })),
    shown: common[0]?.[0].slice(0, 64).replaceAll('\0', ' ') ?? '',
  }
}

/** Returns a hash of 32 bits, which is enough for the few hundred answers of a window. */
export function hashText(text: string): number {
  const bounded = text.length > MAX_HASHED_CHARS ? `${text.length} ${text.slice(0, MAX_HASHED_CHARS)}` : text
  return Number.parseInt(hash('sha1', bounded, 'hex').slice(0, 8), 16)
}
