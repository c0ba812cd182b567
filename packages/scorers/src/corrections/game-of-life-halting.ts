/** game_of_life_halting: whether a board dies out, found by playing it. */
import { z } from 'zod'
import type { DatasetEntry } from '../scorer.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({ grid_size_y: z.int().min(1), simulation_steps: z.int() })
/** Boards that neither die nor repeat so long are left to the library. */
const MAX_STEPS = 1000

/** Undefined where the board cannot be read or lives on for too long without repeating itself. */
function diesOut({ question, metadata }: DatasetEntry): boolean | undefined {
  const { grid_size_y: width, simulation_steps: steps } = Metadata.parse(metadata)
  if (isCut(question)) return undefined
  let cells = Uint8Array.from((question.split('Initial board:\n')[1] ?? '').match(/[01]/g) ?? [], Number)
  let [seen, seenAt] = [cells, 0]
  for (let k = 0; k <= Math.min(steps, MAX_STEPS); k++) {
    if (!cells.includes(1)) return true
    if (k > 0 && cells.every((cell, i) => cell === seen[i])) return false
    if (k >= 2 * seenAt) [seen, seenAt] = [cells, k]
    cells = step(cells, width)
  }
  return steps <= MAX_STEPS ? false : undefined
}

/** One generation on a torus: each living cell counts for the nine cells round it. */
function step(cells: Uint8Array, width: number): Uint8Array<ArrayBuffer> {
  const [size, sums] = [cells.length, new Uint8Array(cells.length)]
  for (let i = cells.indexOf(1); i >= 0; i = cells.indexOf(1, i + 1)) {
    const column = i % width
    for (const beside of [i, i - column + ((column + 1) % width), i - column + ((column + width - 1) % width)]) {
      for (const near of [beside, (beside + width) % size, (beside + size - width) % size])
        sums[near] = (sums[near] ?? 0) + 1
    }
  }
  return sums.map((sum, i) => (sum === 3 || (sum === 4 && cells[i] === 1) ? 1 : 0))
}

/** numpy writes boards of more than 1,000 cells with dots for what is in the middle. */
function isCut(question: string): boolean {
  return question.includes('...')
}

export const gameOfLifeHalting: Correction = {
  reason:
    'The key goes by the kind of the patterns: it is wrong for fewer than three steps and for an empty board. ' +
    'A board of more than 1,000 cells is not shown whole.',
  keys: ({ entry }) => {
    const dies = diesOut(entry)
    return dies === undefined ? undefined : [dies ? 'True' : 'False']
  },
  hasRightAnswer: ({ question }) => !isCut(question),
}
