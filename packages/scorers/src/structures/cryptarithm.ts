/** 1 for digits that solve the sum, 0.01 for any others. Rule of `reasoning_gym/algorithmic/cryptarithm.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { PyValueError, parseInteger } from '../python/numbers.ts'
import { strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

const Puzzle = z.looseObject({
  words_letters: z.array(z.string()),
  result_letters: z.string(),
  allow_leading_zero: z.boolean().default(false),
})
type Puzzle = z.infer<typeof Puzzle>

export const cryptarithm = defineScorer({
  metadata: Puzzle,
  score(answer, entry) {
    const digits = catchPythonError(() => parseDigits(answer), undefined)
    if (digits === undefined) return 0
    return isSolution(entry.metadata, digits) ? 1 : 0.01
  },
})

/** Of a letter that comes twice the last counts. */
function parseDigits(answer: string): Map<string, bigint> {
  return new Map(
    answer.split(',').map((pair) => {
      const [letter = '', digit, ...more] = strip(pair).split('=')
      if (digit === undefined || more.length > 0) throw new PyValueError('no pair')
      return [strip(letter), parseInteger(strip(digit))]
    }),
  )
}

function isSolution(puzzle: Puzzle, digits: ReadonlyMap<string, bigint>): boolean {
  const words = [...puzzle.words_letters, puzzle.result_letters]
  const letters = new Set(words.join(''))
  if (letters.size !== digits.size || [...letters].some((letter) => !digits.has(letter))) return false
  const values = [...digits.values()]
  if (values.some((digit) => digit < 0n || digit > 9n) || new Set(values).size !== values.length) return false
  if (!puzzle.allow_leading_zero && words.some((word) => digits.get(word[0] ?? '') === 0n)) return false
  const [result = 0n, ...terms] = words.map((word) => toNumber(word, digits)).reverse()
  return terms.reduce((sum, term) => sum + term, 0n) === result
}

function toNumber(word: string, digits: ReadonlyMap<string, bigint>): bigint {
  return [...word].reduce((value, letter) => value * 10n + (digits.get(letter) ?? 0n), 0n)
}
