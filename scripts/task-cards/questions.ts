/** Compares the questions of a task: how many of 1,000 differ, and which one is most like another. */

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

const SUBSTRING_LENGTH = 3

export class NearestQuestion {
  /** For each substring its weight in each question: of the substrings of one task, most are in every question. */
  readonly #weights = new Map<string, Float64Array>()
  readonly #count: number

  constructor(questions: readonly string[]) {
    this.#count = questions.length
    questions.forEach((question, index) => {
      for (const [substring, weight] of getUnitVector(question)) {
        const weights = this.#weights.get(substring) ?? new Float64Array(this.#count)
        weights[index] = weight
        this.#weights.set(substring, weights)
      }
    })
  }

  /** The index of the most similar question, the first of equals; undefined if there are none. */
  find(question: string): number | undefined {
    const similarities = new Float64Array(this.#count)
    for (const [substring, weight] of getUnitVector(question)) {
      const weights = this.#weights.get(substring)
      if (weights) addScaled(similarities, weights, weight)
    }
    return this.#count === 0 ? undefined : similarities.indexOf(Math.max(...similarities))
  }
}

function addScaled(sums: Float64Array, values: Float64Array, factor: number): void {
  for (let k = 0; k < sums.length; k++) sums[k] = (sums[k] as number) + factor * (values[k] as number) // equally long
}

function getUnitVector(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (let k = 0; k + SUBSTRING_LENGTH <= text.length; k++) {
    const substring = text.slice(k, k + SUBSTRING_LENGTH)
    counts.set(substring, (counts.get(substring) ?? 0) + 1)
  }
  const length = Math.sqrt([...counts.values()].reduce((sum, count) => sum + count * count, 0))
  return new Map([...counts].map(([substring, count]) => [substring, count / length]))
}
