/** From what a scorer said of the readings of an answer to the verdict. */
import type { FormatErrorCode, UnscoredCode, Verdict } from '../contract/verdict.ts'

/** What a scorer says of one reading of an answer. */
export type ScorerResult =
  | { kind: 'score'; score: number }
  /** The scorer raised on the text. */
  | { kind: 'raised' }
  | { kind: 'failed'; code: UnscoredCode; detail: string }

export function formatErrorVerdict(fault: FormatErrorCode, answer: string | null = null): Verdict {
  return { status: 'scored', reward: 0, score: 0, answer, fault, penalty: 0 }
}

export function unscoredVerdict(code: UnscoredCode, detail: string): Verdict {
  return { status: 'unscored', reward: null, score: null, code, detail }
}

/** The texts that are scored for an answer: bare, and under dual format in tags too. */
export function listDualFormatVariants(answer: string, dualFormat: boolean): string[] {
  return dualFormat ? [answer, `<answer>${answer}</answer>`] : [answer]
}

/** The best reading counts; one that failed leaves the verdict open unless another gave full marks. */
export function buildVerdict(answer: string, readings: ScorerResult[]): Verdict {
  let score = 0
  let raised = 0
  let failed: Extract<ScorerResult, { kind: 'failed' }> | undefined
  for (const reading of readings) {
    if (reading.kind === 'score') score = Math.max(score, clampScore(reading.score))
    else if (reading.kind === 'raised') raised++
    else failed ??= reading
  }
  if (failed && score < 1) return unscoredVerdict(failed.code, failed.detail)
  if (raised === readings.length) return formatErrorVerdict('invalid_answer', answer)
  return { status: 'scored', reward: score, score, answer, fault: null, penalty: 0 }
}

/** The library's score in [0, 1]; what is no finite number counts 0. */
function clampScore(score: number): number {
  return Number.isFinite(score) ? Math.min(1, Math.max(0, score)) : 0
}
