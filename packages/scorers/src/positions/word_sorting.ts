/** The share of words that stand in their place, 0.2 or more for the right words. Rule of `reasoning_gym/algorithmic/word_sorting.py`. */
import { z } from 'zod'
import { strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const wordSorting = defineScorer({
  metadata: z.looseObject({ sorted_words: z.array(z.string()) }),
  score(answer, { metadata: { sorted_words: wanted } }) {
    if (answer === '') return 0
    const given = answer.split(',').map((word) => strip(word))
    const right = wanted.filter((word, i) => word === given[i]).length
    return given.toSorted().join() === wanted.toSorted().join()
      ? Math.max(right / wanted.length, 0.2)
      : right / wanted.length
  },
})
