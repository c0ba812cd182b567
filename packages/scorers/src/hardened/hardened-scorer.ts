/** What a hardened rule is: made once for an item, it scores any answer to it, by the readings of the answer without its wrapping. */
import { type DatasetEntry, InvalidAnswerError, type ResolvedConfig } from '../scorer.ts'
import { listAnswerVariants } from './notations.ts'

export interface HardenedScorerInput {
  entry: DatasetEntry
  config: ResolvedConfig
  /** The library's score of any text, before clamping; throws InvalidAnswer where the library raises. */
  upstream: (text: string) => number
}

export type HardenedScorer = (item: HardenedScorerInput) => (answer: string) => number

/** Above this a score is 1 but for the last digits of a float. */
const FULL_SCORE_THRESHOLD = 1 - 1e-9

export function isFullScore(score: number): boolean {
  return score >= FULL_SCORE_THRESHOLD
}

/** A rule that gives an answer the best score of its variants; throws InvalidAnswer where all of them do. */
export function scoreBestReading(score: (reading: string) => number): (answer: string) => number {
  return (answer) => scoreBest(listAnswerVariants(answer), score)
}

/** The best score of some readings of one answer, at most 1; throws InvalidAnswer where all of them do. */
export function scoreBest(readings: readonly string[], score: (reading: string) => number): number {
  let highest: number | undefined
  let invalid: InvalidAnswerError | undefined
  for (const reading of readings) {
    try {
      highest = Math.max(highest ?? 0, score(reading))
    } catch (error) {
      if (!(error instanceof InvalidAnswerError)) throw error
      invalid = error
    }
    if (highest !== undefined && highest >= 1) return 1
  }
  if (highest === undefined && invalid !== undefined) throw invalid
  return highest ?? 0
}
