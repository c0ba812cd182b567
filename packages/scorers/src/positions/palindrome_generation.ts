/** A palindrome of the given letters; 0.05 for one of others, 0.02 for none. Rule of `reasoning_gym/algorithmic/palindrome_generation.py`. */
import { z } from 'zod'
import { codePoints, lower, strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const palindromeGeneration = defineScorer({
  metadata: z.looseObject({ letters: z.array(z.string()) }),
  score(answer, { metadata }) {
    if (answer === '') return 0
    const given = codePoints(lower(strip(answer)))
    if (given.some((ch, i) => ch !== given.at(-1 - i))) return 0.02
    if (given.length !== metadata.letters.length) return 0.05 // other letters: a long answer need not be sorted to know
    return given.toSorted().join('\n') === metadata.letters.toSorted().join('\n') ? 1 : 0.05
  },
})
