/** What a native scorer is: the library's rule for one task as a pure function of answer, entry and config. */
import type { z } from 'zod'

/** The answer and metadata of an item, in the typed JSON of `src/engine/python/typed_json.py`. */
export interface DatasetEntry {
  answer: string | null
  metadata: unknown
}

/** A full config in plain JSON: the recipe's fields over the library's defaults. */
export type ResolvedConfig = Readonly<Record<string, unknown>>

/** The library raises on this answer: a fault of the model, scored 0. */
export class InvalidAnswerError extends Error {}

/**
 * A task's rule. `metadata` names what the rule reads of the entry and is parsed once per item; `score` returns the
 * library's score before clamping, bounded in time whatever the answer holds, and throws InvalidAnswer where it raises.
 */
export interface Scorer<Metadata> {
  metadata: z.ZodType<Metadata>
  score(answer: string, entry: { answer: string | null; metadata: Metadata }, config: ResolvedConfig): number
}

/** Declares a scorer; its metadata's type is inferred from the schema. */
export function defineScorer<Metadata>(scorer: Scorer<Metadata>): Scorer<Metadata> {
  return scorer
}

/** The oracle's answer. Throws where an entry has none: its task then has no rule that compares, which is our fault and not the answer's. */
export function requireOracleAnswer(entry: { answer: string | null }): string {
  if (entry.answer === null) throw new Error('the entry has no oracle answer')
  return entry.answer
}
