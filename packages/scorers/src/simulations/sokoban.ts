/** Pushes the boxes; 1 where none is off its goal at the end. Rule of `reasoning_gym/games/sokoban.py`. */
import { z } from 'zod'
import { strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

const CELL_AFTER_LEAVING: Readonly<Record<string, string>> = { '%': 'X', $: 'X', '*': '-', '@': '-' }

export const sokoban = defineScorer({
  metadata: z.looseObject({ gamestr: z.string() }),
  score(answer, { metadata }) {
    const rows = strip(metadata.gamestr.replaceAll(' ', '')).split('\n')
    const width = (rows[0] ?? '').length
    const cells = rows.flatMap((row) => Array.from(row))
    const steps = new Map(Object.entries({ R: 1, L: -1, U: -width, D: width }))
    // Walls stand all around the board, so no step leaves it.
    let player = cells.findIndex((cell) => cell === '*' || cell === '%')
    if (player < 0) return 0
    for (const ch of answer) {
      const step = steps.get(ch)
      if (step !== undefined && movePlayer(cells, player, step)) player += step
    }
    return cells.includes('@') ? 0 : 1
  },
})

/** Moves the player, and the box in front of it, where the way is free. */
function movePlayer(cells: string[], player: number, step: number): boolean {
  const [here = '+', next = '+', beyond = '+'] = [player, player + step, player + 2 * step].map((i) => cells[i])
  const isBox = next === '@' || next === '$'
  if (next === '+' || (isBox && '+@$'.includes(beyond))) return false
  if (isBox) cells[player + 2 * step] = beyond === 'X' ? '$' : '@'
  cells[player + step] = next === 'X' || next === '$' ? '%' : '*'
  cells[player] = CELL_AFTER_LEAVING[here] ?? '-'
  return true
}
