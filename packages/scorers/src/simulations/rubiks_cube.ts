/** Turns the cube; 0.01 where it is not solved. Rule of `reasoning_gym/cognition/rubiks_cube.py` with the moves of `magiccube`. */
import { z } from 'zod'
import { PyValueError, parseInteger } from '../python/numbers.ts'
import { PY_D, splitWhitespace } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'
import { applyStickerCycles, createSolvedCube, getStickerCycles, isSolved, type StickerCycles } from './cube.ts'

/** The library writes a count out as so many moves; beyond some billions it runs out of memory and scores 0.01. */
const MAX_COUNT = 2n ** 33n
const COUNTED_MOVE_PATTERN = new RegExp(`^([^${PY_D}]*)(${PY_D}*)$`, 'v')
const SCRAMBLE_MOVE_PATTERN = /^(\d*)([LRDUBFXYZMES])(w?)('?)(\d?)$/
const ANSWER_MOVE_PATTERN = /^(?:([LRDUBF])(w?)|([XYZMES]))('?)$/

export const rubiksCube = defineScorer({
  metadata: z.looseObject({ cube_size: z.int().min(2).max(7), scramble_moves: z.string() }),
  score(answer, { metadata }) {
    const { cube_size: size, scramble_moves: scramble } = metadata
    const moves = parseMoves(answer, size)
    if (moves === undefined) return 0.01
    const cube = createSolvedCube(size)
    for (const word of scramble.split(' ')) applyStickerCycles(cube, parseScrambleMove(word, size))
    for (const move of moves) applyStickerCycles(cube, move)
    return isSolved(cube) ? 1 : 0.01
  },
})

function parseScrambleMove(word: string, size: number): StickerCycles {
  const [, layer = '', face = '', wide = '', reversed = '', count = ''] = SCRAMBLE_MOVE_PATTERN.exec(word) ?? []
  if (face === '') throw new Error(`no move of a scramble: ${word}`)
  const depth = layer === '' ? (wide ? 2 : 1) : Number(layer)
  return getStickerCycles(size, {
    face,
    depth,
    isWide: wide !== '',
    quarters: (reversed ? -1 : 1) * Number(count || '1'),
  })
}

/** Undefined where one word is an error. Each is read once. */
function parseMoves(answer: string, size: number): StickerCycles[] | undefined {
  const known = new Map<string, StickerCycles | 'none' | 'error'>()
  const moves: StickerCycles[] = []
  for (const word of splitWhitespace(answer)) {
    const move = known.get(word) ?? parseMove(word, size)
    if (move === 'error') return undefined
    if (move !== 'none') moves.push(move)
    known.set(word, move)
  }
  return moves
}

/** `R'3` is three times `R'`; a word with a digit elsewhere, such as `2R` or `R2'`, is passed over. */
function parseMove(word: string, size: number): StickerCycles | 'none' | 'error' {
  const [found, base = '', digits = ''] = COUNTED_MOVE_PATTERN.exec(word) ?? []
  const count = found === undefined ? 0n : parseCount(digits)
  if (count === undefined) return 'error'
  if (count === 0n || base === '') return 'none'
  const [valid, side, wide, whole, reversed] = ANSWER_MOVE_PATTERN.exec(base) ?? []
  const isMiddle = whole !== undefined && 'MES'.includes(whole)
  if (valid === undefined || (isMiddle && size % 2 === 0)) return 'error'
  const quarters = Number(count % 4n) * (reversed ? -1 : 1)
  return getStickerCycles(size, { face: side ?? whole ?? '', depth: wide ? 2 : 1, isWide: Boolean(wide), quarters })
}

function parseCount(digits: string): bigint | undefined {
  try {
    const count = parseInteger(digits || '1')
    return count > MAX_COUNT ? undefined : count
  } catch (error) {
    if (error instanceof PyValueError) return undefined
    throw error
  }
}
