/** tower_of_hanoi: any way that obeys the rules is right, however long: the question does not ask for the shortest. */
import { z } from 'zod'
import { createPegs, DISK_MOVE_PATTERN, moveDisk } from '../moves.ts'
import { strip } from '../python/text.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({
  num_disks: z.int(),
  num_pegs: z.int(),
  start_peg: z.int(),
  target_peg: z.int(),
})

export const towerOfHanoi: Correction = {
  reason: 'A way that is longer than the shortest loses points, though the question does not ask for the shortest.',
  decide({ entry }) {
    const { num_disks: disks, num_pegs: count, start_peg: start, target_peg: target } = Metadata.parse(entry.metadata)
    return (answer) => {
      const pegs = createPegs(count, disks, start)
      const lines = answer.split('\n').map((line) => strip(line))
      return lines.every((line) => line === '' || isPossible(pegs, line)) && pegs[target]?.length === disks
    }
  },
}

/** False where the line is no move or the move is not legal. */
function isPossible(pegs: readonly number[][], line: string): boolean {
  const [disk = 0, from = 0, to = 0] = DISK_MOVE_PATTERN.exec(line)?.slice(1).map(Number) ?? []
  return moveDisk(pegs, disk, from, to) === undefined
}
