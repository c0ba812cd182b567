/** survo: any filling of the blanks with the given numbers that has the sums. */
import { z } from 'zod'
import { splitWhitespace, strip } from '../python/text.ts'
import type { Correction } from './correction.ts'

const Grid = z.array(z.array(z.int()))
const Metadata = z.looseObject({ puzzle: Grid, candidate_numbers: z.array(z.int()) })
type Puzzle = z.infer<typeof Metadata>
const NUMBER_PATTERN = /^\d{1,15}$/

export const survo: Correction = {
  reason: 'Some puzzles have several solutions, of which only the key is paid.',
  decide: ({ entry }) => {
    const puzzle = Metadata.parse(entry.metadata)
    return (answer) => (isSolution(puzzle, answer) ? true : undefined)
  },
}

function isSolution({ puzzle, candidate_numbers: numbers }: Puzzle, answer: string): boolean {
  const lines = strip(answer).split('\n')
  if (lines.length !== puzzle.length) return false
  const words = lines.map((line) => splitWhitespace(line))
  if (words.some((row) => row.length !== puzzle.length || !row.every((word) => NUMBER_PATTERN.test(word)))) return false
  const rows = words.map((row) => row.map(Number))
  const columns = rows.map((_, j) => rows.map((row) => row[j] ?? 0))
  const used = rows.flatMap((row, i) => row.filter((_, j) => puzzle[i]?.[j] === 0))
  const keepsGivens = rows.every((row, i) => row.every((n, j) => puzzle[i]?.[j] === 0 || puzzle[i]?.[j] === n))
  return keepsGivens && [...rows, ...columns].every(hasSum) && sorted(used) === sorted(numbers)
}

/** The last number is the sum of the others. */
function hasSum(line: readonly number[]): boolean {
  return line.slice(0, -1).reduce((sum, n) => sum + n, 0) === line.at(-1)
}

function sorted(numbers: readonly number[]): string {
  return numbers.toSorted((a, b) => a - b).join()
}
