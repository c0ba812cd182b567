/** What a hardened rule is: made once for an item, it scores any answer to it. */
import type { DatasetEntry, ResolvedConfig } from '../scorer.ts'

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
