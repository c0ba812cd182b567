/** Turns the cube; 0.01 where it is not solved. Rule of `reasoning_gym/cognition/rubiks_cube.py` with the moves of `magiccube`. */
import { z } from 'zod'
import { PyValueError, parseInteger } from '../python/numbers.ts'
import { PY_D, split } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'
import { apply, isSolved, type Move, moveOf, newCube } from './cube.ts'

/** The library writes a count out as so many moves; beyond some billions it runs out of memory and scores 0.01. */
const MAX_COUNT = 2n ** 33n
const counted = new RegExp(`^([^${PY_D}]*)(${PY_D}*)$`, 'v')
const scrambling = /^(\d*)([LRDUBFXYZMES])(w?)('?)(\d?)$/
const answering = /^(?:([LRDUBF])(w?)|([XYZMES]))('?)$/

export const rubiksCube = defineScorer({
  metadata: z.looseObject({ cube_size: z.int().min(2).max(7), scramble_moves: z.string() }),
  score(answer, { metadata }) {
    const { cube_size: size, scramble_moves: scramble } = metadata
    const moves = movesOf(answer, size)
    if (moves === undefined) return 0.01
    const cube = newCube(size)
    for (const word of scramble.split(' ')) apply(cube, scrambled(word, size))
    for (const move of moves) apply(cube, move)
    return isSolved(cube) ? 1 : 0.01
  },
})

function scrambled(word: string, size: number): Move {
  const [, layer = '', face = '', wide = '', reversed = '', count = ''] = scrambling.exec(word) ?? []
  if (face === '') throw new Error(`no move of a scramble: ${word}`)
  const depth = layer === '' ? (wide ? 2 : 1) : Number(layer)
  return moveOf(size, { face, depth, wide: wide !== '', quarters: (reversed ? -1 : 1) * Number(count || '1') })
}

/** Undefined where one word is an error. Each is read once. */
function movesOf(answer: string, size: number): Move[] | undefined {
  const known = new Map<string, Move | 'none' | 'error'>()
  const moves: Move[] = []
  for (const word of split(answer)) {
    const move = known.get(word) ?? read(word, size)
    if (move === 'error') return undefined
    if (move !== 'none') moves.push(move)
    known.set(word, move)
  }
  return moves
}

/** `R'3` is three times `R'`; a word with a digit elsewhere, such as `2R` or `R2'`, is passed over. */
function read(word: string, size: number): Move | 'none' | 'error' {
  const [found, base = '', digits = ''] = counted.exec(word) ?? []
  const count = found === undefined ? 0n : countOf(digits)
  if (count === undefined) return 'error'
  if (count === 0n || base === '') return 'none'
  const [valid, side, wide, whole, reversed] = answering.exec(base) ?? []
  const isMiddle = whole !== undefined && 'MES'.includes(whole)
  if (valid === undefined || (isMiddle && size % 2 === 0)) return 'error'
  const quarters = Number(count % 4n) * (reversed ? -1 : 1)
  return moveOf(size, { face: side ?? whole ?? '', depth: wide ? 2 : 1, wide: Boolean(wide), quarters })
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
