/** Rules that ask for equal texts, but for letter case, white space or what surrounds the answer. */
import { z } from 'zod'
import { codePointLength, lower, splitWhitespace, strip } from './python/text.ts'
import { defineScorer, requireOracleAnswer, type Scorer } from './scorer.ts'

/** The base rule, of all tasks without one of their own: 1 if equal, the oracle's share where the answer holds it. Rule of `reasoning_gym/dataset.py`. */
export const substringMatch = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const oracle = requireOracleAnswer(entry)
    return answer === '' ? 0 : answer === oracle ? 1 : getSubstringCredit(oracle, answer)
  },
})

/** The oracle's length over the answer's, in code points, where the answer holds the oracle; else 0. */
export function getSubstringCredit(oracle: string, answer: string): number {
  return answer.includes(oracle) && answer !== '' ? codePointLength(oracle) / codePointLength(answer) : 0
}

/** Equal to the last character. Rule of `reasoning_gym/algorithmic/ab.py` and `reasoning_gym/logic/self_reference.py`. */
export const exactMatch = defineScorer({
  metadata: z.unknown(),
  score: (answer, entry) => (answer === entry.answer ? 1 : 0),
})

/** Equal without letter case and line ends. Rule of `reasoning_gym/arithmetic/dice.py` and `reasoning_gym/logic/zebra_puzzles.py`. */
export const caseInsensitiveMatch = defineScorer({
  metadata: z.unknown(),
  score: (answer, entry) => (foldCase(answer) === foldCase(requireOracleAnswer(entry)) ? 1 : 0),
})

function foldCase(text: string): string {
  return lower(text).replaceAll('\n', '')
}

/** Equal without letter case and outer white space. Rule of `reasoning_gym/graphs/family_relationships.py` and `reasoning_gym/cognition/color_cube_rotation.py`. */
export const familyRelationships = createStrippedMatch(0)
export const colorCubeRotation = createStrippedMatch(0.01)

function createStrippedMatch(floor: number): Scorer<unknown> {
  return defineScorer({
    metadata: z.unknown(),
    score: (answer, entry) => (lower(strip(answer)) === lower(strip(requireOracleAnswer(entry))) ? 1 : floor),
  })
}

/** Equal without letter case, with no spaces in the answer. Rule of `reasoning_gym/cognition/needle_haystack.py`. */
export const needleHaystack = defineScorer({
  metadata: z.unknown(),
  score: (answer, entry) =>
    lower(strip(answer.replaceAll(' ', ''))) === lower(strip(requireOracleAnswer(entry))) ? 1 : 0,
})

/** Equal word by word, whatever white space is between. Rule of `reasoning_gym/graphs/path_star.py`. */
export const pathStar = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const words = splitWhitespace(answer).join(' ')
    return words !== '' && words === splitWhitespace(requireOracleAnswer(entry)).join(' ') ? 1 : 0
  },
})

/** Equal, or equal but for outer white space, which costs its share. Rule of `reasoning_gym/logic/circuit_logic.py`. */
export const circuitLogic = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const oracle = requireOracleAnswer(entry)
    return answer === '' || strip(answer) !== oracle ? 0 : codePointLength(oracle) / codePointLength(answer)
  },
})

/** Equal row by row, whatever white space is between, or the oracle's share. Rule of `reasoning_gym/algorithmic/manipulate_matrix.py`. */
export const manipulateMatrix = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    if (answer === '') return 0
    const oracle = strip(requireOracleAnswer(entry))
    const bare = strip(answer)
    if (bare === oracle) return 1
    const rows = bare.split('\n').map((row) => splitWhitespace(row).join(' '))
    const matrix = strip(rows.join('\n'))
    return matrix === oracle ? 1 : getSubstringCredit(oracle, matrix)
  },
})
