/** The oracle's answer, for the rules that compare with it. */

/** Throws where an entry has none: its task then has no rule of this kind, which is our fault and not the answer's. */
export function requireOracleAnswer(entry: { answer: string | null }): string {
  if (entry.answer === null) throw new Error('the entry has no oracle answer')
  return entry.answer
}
