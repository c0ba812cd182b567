/** Rubik's cube: the partial credit that the library means to give and never does, for stickers brought home. */
import { z } from 'zod'
import { splitWhitespace } from '../python/text.ts'
import { applyTurn, type Cube, type CubeTurn, createSolvedCube } from '../simulations/cube.ts'
import { getBestScore, listAnswerVariants } from './answer-variants.ts'
import { type HardenedScorer, isFullScore } from './hardened-scorer.ts'
import { creditPastHalf } from './partial-credit.ts'

const Scramble = z.looseObject({ cube_size: z.int().min(2).max(7), scramble_moves: z.string() })
/** More turns than any honest partial solution needs. */
const MAX_MOVES = 1000
const MOVE_PATTERN = /^(\d?)([LRDUBFXYZMES])(w?)('?)([1-3]?)$/

/** 1 for a solved cube, else the share of displaced stickers that came home, from half of them on. */
export const hardenedRubiksCube: HardenedScorer = ({ entry, upstream }) => {
  const { cube_size: size, scramble_moves: scramble } = Scramble.parse(entry.metadata)
  const turns = parseTurns(scramble, size)
  if (turns === undefined) throw new Error(`no scramble: ${scramble}`)
  const displaced = countMisplacedStickers(applyTurns(size, turns))
  return (answer) =>
    getBestScore(listAnswerVariants(answer), (reading) => {
      if (isFullScore(upstream(reading))) return 1
      const more = parseTurns(reading, size)
      if (more === undefined || more.length > MAX_MOVES) return 0
      return creditPastHalf(displaced - countMisplacedStickers(applyTurns(size, [...turns, ...more])), displaced)
    })
}

function applyTurns(size: number, turns: readonly CubeTurn[]): Cube {
  const cube = createSolvedCube(size)
  for (const one of turns) applyTurn(cube, one)
  return cube
}

/** Undefined where a word is no move of such a cube. */
function parseTurns(text: string, size: number): CubeTurn[] | undefined {
  const turns: CubeTurn[] = []
  for (const word of splitWhitespace(text)) {
    const [found, layer = '', face = '', wide = '', reversed = '', count = ''] = MOVE_PATTERN.exec(word) ?? []
    if (found === undefined || Number(layer) > size || ('MES'.includes(face) && size % 2 === 0)) return undefined
    const depth = layer === '' ? (wide ? 2 : 1) : Number(layer)
    if (depth === 0) return undefined
    turns.push({ face, depth, isWide: wide !== '', quarters: (reversed ? -1 : 1) * Number(count || '1') })
  }
  return turns
}

/** Stickers of another color than the middle of their face. */
function countMisplacedStickers({ size, colors }: Cube): number {
  return listFaceStickers(size).reduce((sum, stickers) => {
    const middle = colors[stickers[(size >> 1) * size + (size >> 1)] ?? 0]
    return sum + stickers.filter((sticker) => colors[sticker] !== middle).length
  }, 0)
}

/** The stickers of each face, row by row, as `cube.ts` numbers them. */
function listFaceStickers(size: number): number[][] {
  const line = Array.from({ length: size }, (_, i) => i)
  const sticker = (place: readonly number[], axis: number) =>
    place.reduce((index, at) => index * size + at, 0) * 3 + axis
  return [0, 1, 2].flatMap((axis) =>
    [0, size - 1].map((end) => line.flatMap((a) => line.map((b) => sticker([a, b].toSpliced(axis, 0, end), axis)))),
  )
}
