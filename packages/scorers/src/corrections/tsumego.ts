/** tsumego: a right move captures, whether or not it is the key; on many boards none does. */
import { z } from 'zod'
import { strip, upper } from '../python/text.ts'
import type { DatasetEntry } from '../scorer.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({ board: z.array(z.array(z.enum(['.', 'X', 'O']))) })
type Board = z.infer<typeof Metadata>['board']

interface Group {
  stones: number
  /** The free points beside it, by their names. */
  liberties: ReadonlySet<string>
}

export const tsumego: Correction = {
  reason: 'The key, and often every move, captures nothing; other moves that do capture are not paid.',
  decide({ entry }) {
    const right = listRightMoves(entry)
    return (answer) => right.includes(upper(strip(answer)))
  },
  hasRightAnswer: (entry) => listRightMoves(entry).length > 0,
  clarification(entry) {
    if (!entry.question.startsWith('Tsumego time.') || new Set(countCaptures(entry).values()).size < 2) return undefined
    return 'Note: any move that captures at least one white stone is right.'
  },
}

function listRightMoves(entry: DatasetEntry): string[] {
  const captures = countCaptures(entry)
  const wanted = entry.question.includes('as many white stones as possible') ? Math.max(...captures.values()) : 1
  return [...captures].filter(([, count]) => count >= wanted).map(([move]) => move)
}

/** How many stones a move captures, for all that do. None where White has a group without liberties: no position. */
function countCaptures({ metadata }: DatasetEntry): Map<string, number> {
  const groups = listWhiteGroups(Metadata.parse(metadata).board)
  const captures = new Map<string, number>()
  if (groups.some(({ liberties }) => liberties.size === 0)) return captures
  for (const { stones, liberties } of groups) {
    const [move = '', ...more] = liberties
    if (more.length === 0) captures.set(move, (captures.get(move) ?? 0) + stones)
  }
  return captures
}

function listWhiteGroups(board: Board): Group[] {
  const seen = new Set<string>()
  return board.flatMap((row, r) =>
    row.flatMap((cell, c) => (cell === 'O' && !seen.has(nameOf(board, r, c)) ? [traceGroup(board, r, c, seen)] : [])),
  )
}

function traceGroup(board: Board, row: number, column: number, seen: Set<string>): Group {
  const liberties = new Set<string>()
  const group: [row: number, column: number][] = [[row, column]]
  seen.add(nameOf(board, row, column))
  for (const [r, c] of group) {
    for (const [i, j] of [
      [r - 1, c],
      [r + 1, c],
      [r, c - 1],
      [r, c + 1],
    ] as const) {
      const name = nameOf(board, i, j)
      if (board[i]?.[j] === '.') liberties.add(name)
      if (board[i]?.[j] === 'O' && !seen.has(name)) group.push([i, j])
      if (board[i]?.[j] === 'O') seen.add(name)
    }
  }
  return { stones: group.length, liberties }
}

/** Rows count from the bottom. */
function nameOf(board: Board, row: number, column: number): string {
  return `${String.fromCharCode(65 + column)}${board.length - row}`
}
