/** What a correction is: how hardened scoring and the note of an item differ from the library, where the library is wrong. */
import type { DatasetEntry, ResolvedConfig } from '../scorer.ts'

export interface CorrectedItem {
  entry: DatasetEntry
  config: ResolvedConfig
}

/** Each function reads the question or the metadata of an item, and is made of one item. All of them end quickly. */
export interface Correction {
  /** What the library does wrong, in one sentence: it stands in the docs. */
  reason: string
  /** All right answers, where the library's key is wrong or one of several: hardened scoring takes each for the key. Undefined where the key is right. */
  keys?(item: CorrectedItem): readonly string[] | undefined
  /** Decides a bare answer by the rules of the question: paid in full or not at all. Undefined: the hardened rule of the task decides. */
  decide?(item: CorrectedItem): (answer: string) => boolean | undefined
  /** Whether an answer can be right and is not so already. Items without one are not handed out by runs with hardened scoring. */
  hasRightAnswer?(entry: DatasetEntry): boolean
  /** A sentence ("Note: …") that settles which of several readings of the question is meant, in the key's favor. Undefined where it has one reading. */
  clarification?(entry: DatasetEntry): string | undefined
}
