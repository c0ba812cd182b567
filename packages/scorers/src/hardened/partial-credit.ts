/** Partial credit that begins past half of the work: what a guess, an echo or a constant gets right stays below. Of a board, only what had to be found counts. */
import { z } from 'zod'
import { parseDigitRows } from '../grids.ts'
import { loads } from '../python/json.ts'
import { catchPythonError } from '../python/numbers.ts'
import { codePointLength, codePoints, lower, splitWhitespace, strip } from '../python/text.ts'
import type { PyValue } from '../python/values.ts'
import { requireOracleAnswer } from '../scorer.ts'
import { countMatches } from '../texts.ts'
import { type HardenedScorer, type HardenedScorerInput, isFullScore, scoreBestReading } from './hardened-scorer.ts'

/** Less than 1 is all that an answer with a fault gets. */
export const MAX_PARTIAL_CREDIT = 0.9

/** 0 to half of `of`, then rising evenly to 0.9 at all of it. */
export function creditPastHalf(right: number, of: number): number {
  return of === 0 ? 0 : Math.max(0, (2 * right) / of - 1) * MAX_PARTIAL_CREDIT
}

/** Like `creditPastHalf`, but 1 if everything is right. */
function creditPastHalfOrFull(right: number, of: number): number {
  return right === of ? 1 : creditPastHalf(right, of)
}

/** Equal in all readings that count, else the share of parts in their place; only where there are as many parts. */
function scorePartsInPlace(
  item: HardenedScorerInput,
  partsOf: (text: string) => readonly string[],
): (answer: string) => number {
  const oracle = requireOracleAnswer(item.entry)
  const wanted = partsOf(oracle)
  return scoreBestReading((reading) => {
    if (reading === oracle) return 1
    const given = partsOf(reading)
    return given.length === wanted.length ? creditPastHalfOrFull(countMatches(wanted, given), wanted.length) : 0
  })
}

export const spellBackward: HardenedScorer = (item) => scorePartsInPlace(item, (text) => codePoints(lower(text)))
export const emojiMystery: HardenedScorer = (item) => scorePartsInPlace(item, codePoints)
export const sentenceReordering: HardenedScorer = (item) =>
  scorePartsInPlace(item, (text) => splitWhitespace(lower(text)))
export const figletFont: HardenedScorer = (item) =>
  scorePartsInPlace(item, (text) => codePoints(lower(strip(text.replaceAll(' ', '')))))

/** The right words in another order; any other word earns nothing. */
export const wordSorting: HardenedScorer = (item) => {
  const { sorted_words: wanted } = z.looseObject({ sorted_words: z.array(z.string()) }).parse(item.entry.metadata)
  const words = wanted.toSorted().join('\n')
  return scoreBestReading((reading) => {
    const given = reading.split(',').map((word) => strip(word))
    return given.toSorted().join('\n') === words ? creditPastHalfOrFull(countMatches(wanted, given), wanted.length) : 0
  })
}

/** Only words that were scrambled count, so that the question repeated earns nothing. Capitalization is "preserved": without it an answer has a fault. */
export const letterJumble: HardenedScorer = (item) => {
  const words = z.array(z.string().transform(lower))
  const { scrambled_words: scrambled, original_words: original } = z
    .looseObject({ scrambled_words: words, original_words: words })
    .parse(item.entry.metadata)
  const changed = [...original.keys()].filter((i) => original[i] !== scrambled[i])
  const oracle = splitWhitespace(requireOracleAnswer(item.entry)).join(' ')
  return scoreBestReading((reading) => {
    if (splitWhitespace(reading).join(' ') === oracle) return 1
    const given = splitWhitespace(lower(reading))
    if (given.length !== original.length) return 0
    return creditPastHalf(changed.filter((i) => given[i] === original[i]).length, changed.length)
  })
}

const CellGrid = z.array(z.array(z.int()))

/** Sudoku, mini sudoku and futoshiki: the blanks past half of them, where all givens stand. */
export const digitGrid: HardenedScorer = ({ entry, upstream }) => {
  const { puzzle, solution } = z.looseObject({ puzzle: CellGrid, solution: CellGrid }).parse(entry.metadata)
  const oracle = requireOracleAnswer(entry)
  const [blanks, size] = [puzzle.flat().filter((cell) => cell === 0).length, solution[0]?.length ?? 0]
  return scoreBestReading((reading) => {
    if (isFullScore(upstream(reading))) return 1
    const rows = parseDigitRows(reading, size)
    const cells = solution.flatMap((row, i) =>
      row.map((cell, j) => ({ given: puzzle[i]?.[j] !== 0, right: rows[i]?.[j] === String(cell) })),
    )
    if (cells.some(({ given, right }) => given && !right)) return 0
    const found = cells.filter(({ given, right }) => !given && right).length
    return creditPastHalf(found, blanks) * Math.min(1, codePointLength(oracle) / Math.max(1, codePointLength(reading)))
  })
}

/** The living cells that both boards have, of all that either has: an empty board, a full one and the first one earn nothing. */
export const gameOfLife: HardenedScorer = ({ entry }) => {
  const wanted = parseBoard(requireOracleAnswer(entry))
  if (wanted === undefined) throw new Error('the oracle is no board')
  return scoreBestReading((reading) => {
    const given = parseBoard(reading)
    if (given === undefined || getShape(given) !== getShape(wanted)) return 0
    const [a, b] = [wanted.flat(), given.flat()]
    const either = a.filter((cell, i) => cell || b[i]).length
    const both = a.filter((cell, i) => cell && b[i]).length
    return both === either ? 1 : creditPastHalf(both, either)
  })
}

type Board = boolean[][]

/** Rows of 0 and 1 (or booleans); undefined for anything else. */
function parseBoard(text: string): Board | undefined {
  const rows = catchPythonError(() => loads(text), null)
  if (!Array.isArray(rows)) return undefined
  const board = rows.map((row) => (Array.isArray(row) ? row.map(parseCell) : [undefined]))
  return board.every((row): row is boolean[] => !row.includes(undefined)) ? board : undefined
}

function parseCell(value: PyValue): boolean | undefined {
  if (typeof value === 'boolean') return value
  return value === 1n || value === 0n ? value === 1n : undefined
}

function getShape(board: Board): string {
  return board.map((row) => row.length).join()
}
