/** How many of 1,000 questions differ, from 1,000 of them or fewer. */

/**
 * Fewer items are taken for draws from a pool of equally likely questions, whose size follows from the pairs that are equal (and
 * one more, since none may only be luck).
 */
export function estimateDistinct(questions: readonly string[]): number {
  const n = questions.length
  const different = new Set(questions).size
  if (n >= 1000) return different
  const pool = (n * (n - 1)) / 2 / (countEqualPairs(questions) + 1)
  return Math.max(different, Math.round(pool * (1 - Math.exp(-1000 / pool))))
}

export function countEqualPairs(questions: readonly string[]): number {
  const counts = Map.groupBy(questions, (question) => question)
  return [...counts.values()].reduce((sum, { length }) => sum + (length * (length - 1)) / 2, 0)
}
