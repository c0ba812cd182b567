/** Builds the verdict on an answer from the results of its variants. */
import type { FormatFault, UnscoredCode, Verdict } from '@reasoning-gym-server/contract/verdict'

/** The minimum score of a completion, or mean score of a group, that training counts as correct. */
export const TRAINING_CORRECT_THRESHOLD = 0.5

/** The result of scoring one variant of an answer. */
export type ScorerResult =
  | { kind: 'score'; score: number }
  /** The scorer raised an exception for this text. */
  | { kind: 'raised' }
  | { kind: 'failed'; code: UnscoredCode; detail: string }

function scoredVerdict(score: number, answer: string | null, fault: FormatFault | null): Verdict {
  const components = { correct: score, format: fault === null ? 1 : 0, length_penalty: 0, try_discount: 0 }
  return { status: 'scored', reward: score, score, answer, fault, components }
}

export function formatFaultVerdict(fault: FormatFault, answer: string | null = null): Verdict {
  return scoredVerdict(0, answer, fault)
}

export function unscoredVerdict(code: UnscoredCode, detail: string): Verdict {
  return { status: 'unscored', reward: null, score: null, code, detail }
}

/** The texts to score for an answer: the bare answer and, with `dualFormat`, the tagged answer. */
export function listDualFormatVariants(answer: string, dualFormat: boolean): string[] {
  return dualFormat ? [answer, `<answer>${answer}</answer>`] : [answer]
}

/** The best variant counts. If one failed, the verdict is unscored unless another variant has the full score. */
export function buildVerdict(answer: string, variantResults: ScorerResult[]): Verdict {
  let score = 0
  let raised = 0
  let failed: Extract<ScorerResult, { kind: 'failed' }> | undefined
  for (const result of variantResults) {
    if (result.kind === 'score') score = Math.max(score, clampScore(result.score))
    else if (result.kind === 'raised') raised++
    else failed ??= result
  }
  if (failed && score < 1) return unscoredVerdict(failed.code, failed.detail)
  if (raised === variantResults.length) return formatFaultVerdict('invalid_answer', answer)
  return scoredVerdict(score, answer, null)
}

/** The library's score, limited to [0, 1]; a score that is not finite counts as 0. */
function clampScore(score: number): number {
  return Number.isFinite(score) ? Math.min(1, Math.max(0, score)) : 0
}
