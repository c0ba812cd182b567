/** Moves the disks; fewer points for more moves, 0.05 where they do not end on the target. Rule of `reasoning_gym/games/tower_of_hanoi.py`. */
import { z } from 'zod'
import { PyValueError, parseInteger } from '../python/numbers.ts'
import { PY_D, splitlines, splitWhitespace, strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

const INSTRUCTION_PATTERN = new RegExp(`Move disk (${PY_D}+) from Peg (${PY_D}+) to Peg (${PY_D}+)`, 'v')

export const towerOfHanoi = defineScorer({
  metadata: z.looseObject({
    num_disks: z.int(),
    num_pegs: z.int(),
    start_peg: z.int(),
    target_peg: z.int(),
    solution_length: z.int(),
  }),
  score(answer, { metadata }) {
    if (answer === '') return 0
    const lines = splitlines(strip(answer)).map((line) => strip(line))
    const moves = lines.filter((line) => line !== '')
    const pegs = new Map<number, number[]>()
    for (let peg = 1; peg <= metadata.num_pegs; peg++) pegs.set(peg, [])
    pegs.set(
      metadata.start_peg,
      Array.from({ length: metadata.num_disks }, (_, i) => metadata.num_disks - i),
    )
    for (const line of moves) if (!applyMove(pegs, line)) return 0
    // No rule lets a larger disk onto a smaller one: all of them are in order.
    if (pegs.get(metadata.target_peg)?.length !== metadata.num_disks) return 0.05
    return Math.min(1, metadata.solution_length / moves.length)
  },
})

/** Judges the third, sixth and ninth word, but moves by the pattern: they differ in `Peg 1_0`. */
function applyMove(pegs: Map<number, number[]>, line: string): boolean {
  const words = splitWhitespace(line)
  const found = INSTRUCTION_PATTERN.exec(line)
  if (found === null || words.length !== 9) return false
  const [disk, from, to] = [words[2], words[5], words[8]].map(parseNumber)
  const [source, target] = [pegs.get(from ?? -1), pegs.get(to ?? -1)]
  if (source === undefined || target === undefined || disk === undefined || source.at(-1) !== disk) return false
  if (disk > (target.at(-1) ?? disk)) return false
  const [moved, off, onto] = found.slice(1).map(parseNumber)
  pegs.get(off ?? -1)?.pop()
  pegs.get(onto ?? -1)?.push(moved ?? -1)
  return true
}

function parseNumber(word: string | undefined = ''): number | undefined {
  if (/^[0-9]{1,9}$/.test(word)) return Number(word)
  try {
    return Number(parseInteger(word))
  } catch (error) {
    if (error instanceof PyValueError) return undefined
    throw error
  }
}
