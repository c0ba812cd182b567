/** How many of 1,000 questions differ, from 1,000 of them or fewer. */

/**
 * Fewer items are taken for draws from a pool of equally likely questions, whose size follows from the pairs that are equal (and
 * one more, since none may only be luck).
 */
export function estimateDistinct(questions: readonly string[]): number {
  const n = questions.length
  const counts = Map.groupBy(questions, (question) => question)
  if (n >= 1000) return counts.size
  const equalPairs = [...counts.values()].reduce((sum, { length }) => sum + (length * (length - 1)) / 2, 0)
  const pool = (n * (n - 1)) / 2 / (equalPairs + 1)
  return Math.max(counts.size, Math.round(pool * (1 - Math.exp(-1000 / pool))))
}
