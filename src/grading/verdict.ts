/** Builds the verdict on an answer from the results of its variants. */
import type { FormatErrorCode, UnscoredCode, Verdict } from '@reasoning-gym-server/contract/verdict'

/** The result of scoring one variant of an answer. */
export type ScorerResult =
  | { kind: 'score'; score: number }
  /** The scorer raised an exception for this text. */
  | { kind: 'raised' }
  | { kind: 'failed'; code: UnscoredCode; detail: string }

export function formatErrorVerdict(fault: FormatErrorCode, answer: string | null = null): Verdict {
  return { status: 'scored', reward: 0, score: 0, answer, fault, penalty: 0 }
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
  if (raised === variantResults.length) return formatErrorVerdict('invalid_answer', answer)
  return { status: 'scored', reward: score, score, answer, fault: null, penalty: 0 }
}

/** The library's score, limited to [0, 1]; a score that is not finite counts as 0. */
function clampScore(score: number): number {
  return Number.isFinite(score) ? Math.min(1, Math.max(0, score)) : 0
}
