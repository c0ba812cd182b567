/** Rules that count the characters or words that stand in their place. */
import { z } from 'zod'
import { codePoints, lower, splitWhitespace, strip } from './python/text.ts'
import { defineScorer, requireOracleAnswer } from './scorer.ts'

/** The share of characters that stand in their place; 0.01 for another length. Rule of `reasoning_gym/games/emoji_mystery.py`. */
export const emojiMystery = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const [wanted, given] = [codePoints(requireOracleAnswer(entry)), codePoints(answer)]
    if (wanted.length !== given.length) return 0.01
    if (wanted.length === 0) return 1
    return wanted.filter((ch, i) => ch === given[i]).length / wanted.length
  },
})

/** 0.1 for each letter that stands in its place, without letter case and blanks. Rule of `reasoning_gym/cognition/figlet_fonts.py`. */
export const figletFont = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const [wanted, given] = [lower(strip(requireOracleAnswer(entry))), lower(strip(answer.replaceAll(' ', '')))]
    if (given === wanted) return 1
    const letters = codePoints(given)
    const right = codePoints(wanted).filter((ch, i) => ch === letters[i]).length
    return Math.min(right * 0.1, 1)
  },
})

/** The share of words that stand in their place, without letter case. Rule of `reasoning_gym/algorithmic/letter_jumble.py`. */
export const letterJumble = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const [wanted, given] = [lower(strip(requireOracleAnswer(entry))), lower(strip(answer))]
    if (given === wanted) return 1
    const [words, others] = [splitWhitespace(wanted), splitWhitespace(given)]
    let sum = 0 // adding up equal parts rounds otherwise than a quotient does
    for (const [i, word] of words.entries()) if (word === others[i]) sum += 1 / words.length
    return Math.min(1, sum)
  },
})

/** A palindrome of the given letters; 0.05 for one of others, 0.02 for none. Rule of `reasoning_gym/algorithmic/palindrome_generation.py`. */
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

/** The share of words that stand in their place; 0.05 for another count of words. Rule of `reasoning_gym/algorithmic/sentence_reordering.py`. */
export const sentenceReordering = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const wanted = requireOracleAnswer(entry)
    if (answer === wanted) return 1
    const [words, others] = [splitWhitespace(wanted), splitWhitespace(answer)]
    if (words.length !== others.length) return 0.05
    const right = words.filter((word, i) => lower(word) === lower(others[i] ?? '')).length
    return words.length > 0 ? right / words.length : 0
  },
})

/** The share of characters that stand in their place; junk behind them is forgiven. Rule of `reasoning_gym/algorithmic/spell_backward.py`. */
export const spellBackward = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const [wanted, given] = [codePoints(lower(requireOracleAnswer(entry))), codePoints(lower(answer))]
    if (wanted.join('') === given.join('')) return 1
    // Summed one by one: only where the parts give 1 exactly in floating point does the library take 0.2 off.
    let reward = 0
    for (const [i, ch] of wanted.entries()) if (ch === given[i]) reward += 1 / wanted.length
    return reward === 1 ? 0.8 : reward
  },
})

/** The share of words that stand in their place, 0.2 or more for the right words. Rule of `reasoning_gym/algorithmic/word_sorting.py`. */
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
