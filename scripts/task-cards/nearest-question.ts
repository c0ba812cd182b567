/** Finds the question that is most like another: cosine similarity of the counts of three-character substrings. */

const SUBSTRING_LENGTH = 3

export class NearestQuestion {
  readonly #postings = new Map<string, { index: number; weight: number }[]>()
  readonly #count: number

  constructor(questions: readonly string[]) {
    this.#count = questions.length
    questions.forEach((question, index) => {
      for (const [substring, weight] of getUnitVector(question)) {
        const postings = this.#postings.get(substring)
        if (postings) postings.push({ index, weight })
        else this.#postings.set(substring, [{ index, weight }])
      }
    })
  }

  /** The index of the most similar question, the first of equals; undefined if there are none. */
  find(question: string): number | undefined {
    const similarities = new Float64Array(this.#count)
    for (const [substring, weight] of getUnitVector(question)) {
      for (const posting of this.#postings.get(substring) ?? []) {
        similarities[posting.index] = (similarities[posting.index] ?? 0) + weight * posting.weight
      }
    }
    const best = similarities.reduce((top, similarity, k) => (similarity > (similarities[top] ?? 0) ? k : top), 0)
    return this.#count === 0 ? undefined : best
  }
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
