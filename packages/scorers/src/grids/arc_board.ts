/** 1 for the output board, 0.05 for any other board of the alphabet. Rule of `reasoning_gym/arc/arc_agi.py` and `reasoning_gym/arc/rearc.py`; boards are read as in `reasoning_gym/arc/board_format.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { PyValueError } from '../python/numbers.ts'
import { strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

/** A config names only what differs from the library's defaults. */
const BoardFormat = z.looseObject({
  alphabet: z.array(z.string()).default([...'0123456789']),
  col_delimiter: z.string().default(' '),
  row_delimiter: z.string().default('\n'),
  array_brackets: z.boolean().default(false),
})
type BoardFormat = z.infer<typeof BoardFormat>

const BoardRow = z.strictObject({ $tuple: z.array(z.int()) }).transform((row) => row.$tuple)
const Board = z.strictObject({ $tuple: z.array(BoardRow) }).transform((board) => board.$tuple)

export const arcBoard = defineScorer({
  metadata: z.looseObject({ output: Board }),
  score(answer, entry, config) {
    const format = BoardFormat.parse(config.board_format_opts ?? {})
    const given = catchPythonError(() => parseBoard(answer, format), undefined)
    if (given === undefined) return 0
    return JSON.stringify(given) === JSON.stringify(entry.metadata.output) ? 1 : 0.05
  },
})

/** Throws PyValueError for a cell that is not of the alphabet. */
function parseBoard(text: string, format: BoardFormat): number[][] {
  const inner = (part: string) => (format.array_brackets ? removeBrackets(part) : part)
  const cells = new Map(format.alphabet.map((letter, i) => [letter, i] as const).reverse())
  const lines = text.split('\n').map((line) => strip(line))
  const grid = strip(lines.filter((line) => !line.startsWith('Shape: ')).join('\n'))
  return splitOnDelimiter(inner(grid), format.row_delimiter).map((row) => {
    const parts = splitOnDelimiter(inner(strip(row)), format.col_delimiter).map((part) => strip(part))
    return parts.filter((part) => part !== '').map((part) => parseCell(cells, part))
  })
}

function parseCell(cells: ReadonlyMap<string, number>, part: string): number {
  const cell = cells.get(part)
  if (cell === undefined) throw new PyValueError('not of the alphabet')
  return cell
}

function removeBrackets(text: string): string {
  return text.startsWith('[') && text.endsWith(']') ? strip(text.slice(1, -1)) : text
}

/** Python's `split`, which takes no empty delimiter. */
function splitOnDelimiter(text: string, delimiter: string): string[] {
  if (delimiter === '') throw new PyValueError('empty separator')
  return text.split(delimiter)
}
