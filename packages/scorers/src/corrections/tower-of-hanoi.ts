/** tower_of_hanoi: any way that obeys the rules is right, however long: the question does not ask for the shortest. */
import { z } from 'zod'
import { strip } from '../python/text.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({
  num_disks: z.int(),
  num_pegs: z.int(),
  start_peg: z.int(),
  target_peg: z.int(),
})

const LINE_PATTERN = /^Move disk (\d{1,9}) from Peg (\d{1,9}) to Peg (\d{1,9})$/

export const towerOfHanoi: Correction = {
  reason: 'A way that is longer than the shortest loses points, though the question does not ask for the shortest.',
  decide({ entry }) {
    const { num_disks: disks, num_pegs: count, start_peg: start, target_peg: target } = Metadata.parse(entry.metadata)
    return (answer) => {
      const pegs = Array.from({ length: count + 1 }, (_, peg) => (peg === start ? listDownFrom(disks) : []))
      const lines = answer.split('\n').map((line) => strip(line))
      return lines.every((line) => line === '' || moveDisk(pegs, line)) && pegs[target]?.length === disks
    }
  },
}

function listDownFrom(count: number): number[] {
  return Array.from({ length: count }, (_, k) => count - k)
}

/** False where the line is no move or the move is not legal. There is no peg 0, which has no disks and takes any. */
function moveDisk(pegs: readonly number[][], line: string): boolean {
  const [disk = 0, from = 0, to = 0] = LINE_PATTERN.exec(line)?.slice(1).map(Number) ?? []
  const [source, goal] = [pegs[from], pegs[to]]
  if (source === undefined || goal === undefined || from === to || to === 0) return false
  if (source.at(-1) !== disk || disk > (goal.at(-1) ?? disk)) return false
  source.pop()
  goal.push(disk)
  return true
}
