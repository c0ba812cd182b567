/** Turns the cube; 0.01 where it is not solved. Rule of `reasoning_gym/cognition/rubiks_cube.py` with the moves of `magiccube`. */
import { z } from 'zod'
import { PyValueError, parseInteger } from '../python/numbers.ts'
import { PY_D, split } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'
import { type Cube, isSolved, newCube, type Turn, turn } from './cube.ts'

/** The library writes a count out as so many moves; beyond some billions it runs out of memory and scores 0.01. */
const MAX_COUNT = 2n ** 33n
const counted = new RegExp(`^([^${PY_D}]*)(${PY_D}*)$`, 'v')
const scrambling = /^(\d*)([LRDUBFXYZMES])(w?)('?)(\d?)$/
const answering = /^(?:([LRDUBF])(w?)|([XYZMES]))('?)$/

export const rubiksCube = defineScorer({
  metadata: z.looseObject({ cube_size: z.int().min(2).max(7), scramble_moves: z.string() }),
  score(answer, { metadata }) {
    const turns = turnsOf(answer, metadata.cube_size)
    if (turns === undefined) return 0.01
    const cube = newCube(metadata.cube_size)
    for (const move of metadata.scramble_moves.split(' ')) scramble(cube, move)
    for (const one of turns) turn(cube, one)
    return isSolved(cube) ? 1 : 0.01
  },
})

function scramble(cube: Cube, move: string): void {
  const [, layer = '', face = '', wide = '', reversed = '', count = ''] = scrambling.exec(move) ?? []
  if (face === '') throw new Error(`no move of a scramble: ${move}`)
  const depth = layer === '' ? (wide ? 2 : 1) : Number(layer)
  turn(cube, { face, depth, wide: wide !== '', quarters: (reversed ? -1 : 1) * Number(count || '1') })
}

/** `R'3` is three times `R'`; a word with a digit elsewhere, such as `2R` or `R2'`, is passed over; undefined where a move is none. */
function turnsOf(answer: string, size: number): Turn[] | undefined {
  const turns: Turn[] = []
  for (const word of split(answer)) {
    const [found, move = '', digits = ''] = counted.exec(word) ?? []
    const count = found === undefined ? 0n : countOf(digits)
    if (count === undefined) return undefined
    if (count === 0n || move === '') continue
    const [valid, side, wide, whole = '', reversed] = answering.exec(move) ?? []
    if (valid === undefined || ('MES'.includes(whole) && whole !== '' && size % 2 === 0)) return undefined
    const quarters = Number(count % 4n) * (reversed ? -1 : 1)
    turns.push({ face: side ?? whole, depth: wide ? 2 : 1, wide: Boolean(wide), quarters })
  }
  return turns
}

function countOf(digits: string): bigint | undefined {
  try {
    const count = parseInteger(digits || '1')
    return count > MAX_COUNT ? undefined : count
  } catch (error) {
    if (error instanceof PyValueError) return undefined
    throw error
  }
}
