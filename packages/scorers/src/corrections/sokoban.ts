/** sokoban: every step of an answer is possible, and some puzzles are solved before the first. */
import { z } from 'zod'
import { movePlayer } from '../moves.ts'
import { strip } from '../python/text.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({ gamestr: z.string() })

const SIGNS_PATTERN = /[^A-Za-z0-9]+/g
const STEPS_PATTERN = /^[LRUD]*$/

export const sokoban: Correction = {
  reason: 'Steps against walls and signs that are no steps are passed over; some puzzles are solved at the start.',
  decide({ entry }) {
    const { gamestr } = Metadata.parse(entry.metadata)
    const rows = strip(gamestr.replaceAll(' ', '')).split('\n')
    const width = rows[0]?.length ?? 0
    const steps = new Map(Object.entries({ R: 1, L: -1, U: -width, D: width }))
    return (answer) => {
      const names = answer.replaceAll(SIGNS_PATTERN, '')
      if (!STEPS_PATTERN.test(names)) return false
      const cells = rows.flatMap((row) => Array.from(row))
      let player = cells.findIndex((cell) => cell === '*' || cell === '%')
      for (const name of names) {
        const step = steps.get(name) ?? 0
        if (!movePlayer(cells, player, step)) return false
        player += step
      }
      return !cells.includes('@')
    }
  },
  hasRightAnswer: ({ metadata }) => Metadata.parse(metadata).gamestr.includes('@'),
}
