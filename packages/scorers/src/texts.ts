/** Rules that compare texts: as wholes, or the characters and words that stand in their place. */
import { z } from 'zod'
import { codePointLength, codePoints, lower, PY_D, splitWhitespace, strip, upper } from './python/text.ts'
import { defineOracleScorer, defineScorer, type TaskScorer } from './scorer.ts'

/** The base rule, of all tasks without one of their own: 1 if equal, the oracle's share where the answer holds it. Rule of `reasoning_gym/dataset.py`. */
export const substringMatch = defineOracleScorer((answer, oracle) =>
  answer === oracle && answer !== '' ? 1 : getSubstringCredit(oracle, answer),
)

/** The oracle's length over the answer's, in code points, where the answer holds the oracle; else 0. */
export function getSubstringCredit(oracle: string, answer: string): number {
  return answer.includes(oracle) && answer !== '' ? codePointLength(oracle) / codePointLength(answer) : 0
}

/** Equal to the last character. Rule of `reasoning_gym/algorithmic/ab.py` and `reasoning_gym/logic/self_reference.py`. */
export const exactMatch = defineOracleScorer((answer, oracle) => (answer === oracle ? 1 : 0))

/** Any answer that is not empty: to Python 'False' is as true as 'True'. Rule of `reasoning_gym/algorithmic/game_of_life_halting.py`. */
export const gameOfLifeHalting = defineOracleScorer((answer, oracle) => ((answer !== '') === (oracle !== '') ? 1 : 0))

/** Equal without letter case and line ends. Rule of `reasoning_gym/arithmetic/dice.py` and `reasoning_gym/logic/zebra_puzzles.py`. */
export const caseInsensitiveMatch = defineOracleScorer((answer, oracle) =>
  foldCase(answer) === foldCase(oracle) ? 1 : 0,
)

function foldCase(text: string): string {
  return lower(text).replaceAll('\n', '')
}

/** Equal without letter case and outer white space. Rule of `reasoning_gym/graphs/family_relationships.py` and `reasoning_gym/cognition/color_cube_rotation.py`. */
export const familyRelationships = createStrippedMatch(0)
export const colorCubeRotation = createStrippedMatch(0.01)

function createStrippedMatch(floor: number): TaskScorer {
  return defineOracleScorer((answer, oracle) => (lower(strip(answer)) === lower(strip(oracle)) ? 1 : floor))
}

/** Equal without letter case, with no spaces in the answer. Rule of `reasoning_gym/cognition/needle_haystack.py`. */
export const needleHaystack = defineOracleScorer((answer, oracle) =>
  lower(strip(answer.replaceAll(' ', ''))) === lower(strip(oracle)) ? 1 : 0,
)

/** Equal word by word, whatever white space is between. Rule of `reasoning_gym/graphs/path_star.py`. */
export const pathStar = defineOracleScorer((answer, oracle) => {
  const words = splitWhitespace(answer).join(' ')
  return words !== '' && words === splitWhitespace(oracle).join(' ') ? 1 : 0
})

/** Equal, or equal but for outer white space, which costs its share. Rule of `reasoning_gym/logic/circuit_logic.py`. */
export const circuitLogic = defineOracleScorer((answer, oracle) =>
  answer === '' || strip(answer) !== oracle ? 0 : codePointLength(oracle) / codePointLength(answer),
)

/** Equal row by row, whatever white space is between, or the oracle's share. Rule of `reasoning_gym/algorithmic/manipulate_matrix.py`. */
export const manipulateMatrix = defineOracleScorer((answer, wanted) => {
  if (answer === '') return 0
  const [oracle, bare] = [strip(wanted), strip(answer)]
  if (bare === oracle) return 1
  const rows = bare.split('\n').map((row) => splitWhitespace(row).join(' '))
  const matrix = strip(rows.join('\n'))
  return matrix === oracle ? 1 : getSubstringCredit(oracle, matrix)
})

const POINT_PATTERN = new RegExp(`^[A-Z]${PY_D}+$`, 'v')

/** The move, or its share of the text that holds it; 0.05 for another point. Rule of `reasoning_gym/games/tsumego.py`. */
export const tsumego = defineOracleScorer((answer, oracle) => {
  if (answer === '') return 0
  const [wanted, given] = [strip(oracle), upper(strip(answer))]
  if (given === wanted) return 1
  if (given.includes(wanted)) return codePointLength(wanted) / codePointLength(given)
  return POINT_PATTERN.test(given) ? 0.05 : 0.01
})

/** How many parts stand in their place. */
export function countMatches(wanted: readonly string[], given: readonly string[]): number {
  return wanted.filter((part, i) => part === given[i]).length
}

/** The share of characters that stand in their place; 0.01 for another length. Rule of `reasoning_gym/games/emoji_mystery.py`. */
export const emojiMystery = defineOracleScorer((answer, oracle) => {
  const [wanted, given] = [codePoints(oracle), codePoints(answer)]
  if (wanted.length !== given.length) return 0.01
  return wanted.length === 0 ? 1 : countMatches(wanted, given) / wanted.length
})

/** 0.1 for each letter that stands in its place, without letter case and blanks. Rule of `reasoning_gym/cognition/figlet_fonts.py`. */
export const figletFont = defineOracleScorer((answer, oracle) => {
  const [wanted, given] = [lower(strip(oracle)), lower(strip(answer.replaceAll(' ', '')))]
  return given === wanted ? 1 : Math.min(countMatches(codePoints(wanted), codePoints(given)) * 0.1, 1)
})

/** The share of words that stand in their place, without letter case. Rule of `reasoning_gym/algorithmic/letter_jumble.py`. */
export const letterJumble = defineOracleScorer((answer, oracle) => {
  const [wanted, given] = [lower(strip(oracle)), lower(strip(answer))]
  return given === wanted ? 1 : Math.min(1, sumShares(splitWhitespace(wanted), splitWhitespace(given)))
})

/** The share of parts that stand in their place, added up one by one: that rounds otherwise than a quotient does. */
function sumShares(wanted: readonly string[], given: readonly string[]): number {
  let sum = 0
  for (const [i, part] of wanted.entries()) if (part === given[i]) sum += 1 / wanted.length
  return sum
}

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
export const sentenceReordering = defineOracleScorer((answer, oracle) => {
  if (answer === oracle) return 1
  const [words, others] = [splitWhitespace(oracle), splitWhitespace(answer)]
  if (words.length !== others.length) return 0.05
  return words.length > 0 ? countMatches(words.map(lower), others.map(lower)) / words.length : 0
})

/** The share of characters that stand in their place; junk behind them is forgiven. Rule of `reasoning_gym/algorithmic/spell_backward.py`. */
export const spellBackward = defineOracleScorer((answer, oracle) => {
  const [wanted, given] = [lower(oracle), lower(answer)]
  if (wanted === given) return 1
  const reward = sumShares(codePoints(wanted), codePoints(given))
  // Only where the parts give 1 exactly in floating point does the library take 0.2 off.
  return reward === 1 ? 0.8 : reward
})

/** The share of words that stand in their place, 0.2 or more for the right words. Rule of `reasoning_gym/algorithmic/word_sorting.py`. */
export const wordSorting = defineScorer({
  metadata: z.looseObject({ sorted_words: z.array(z.string()) }),
  score(answer, { metadata: { sorted_words: wanted } }) {
    if (answer === '') return 0
    const given = answer.split(',').map((word) => strip(word))
    const share = countMatches(wanted, given) / wanted.length
    return given.toSorted().join() === wanted.toSorted().join() ? Math.max(share, 0.2) : share
  },
})
