/** Changes one letter at a time from start to end; half for each word that the library does not know. Rule of `reasoning_gym/algorithmic/word_ladder.py`. */
import { z } from 'zod'
import { codePointLength, codePoints, strip, upper } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'
import { getLadderWords } from './ladder-words.ts'

export const wordLadder = defineScorer({
  metadata: z.looseObject({ start_word: z.string(), end_word: z.string() }),
  score(answer, { metadata: { start_word: start, end_word: end } }) {
    const parts = upper(answer).split(',')
    const words = parts.map((part) => strip(part))
    if (words.length < 2 || words[0] !== start || words.at(-1) !== end) return 0
    if (words.some((word) => codePointLength(word) !== codePointLength(end))) return 0
    if (words.some((word, i) => i > 0 && countChangedLetters(words[i - 1] ?? '', word) !== 1)) return 0
    const known = getLadderWords(codePointLength(end))
    return 0.5 ** words.filter((word) => !known.has(word)).length
  },
})

function countChangedLetters(from: string, to: string): number {
  const letters = codePoints(from)
  return codePoints(to).filter((letter, i) => letter !== letters[i]).length
}
