/** Rubik's cube: the partial credit that the library means to give and never does, for stickers brought home. */
import { z } from 'zod'
import { split } from '../python/text.ts'
import { type Cube, newCube, type Turn, turn } from '../simulations/cube.ts'
import { type Hardening, isWhole } from './hardening.ts'
import { pastHalf } from './past_half.ts'
import { best, readingsOf } from './readings.ts'

const Scramble = z.looseObject({ cube_size: z.int().min(2).max(7), scramble_moves: z.string() })
/** Nobody comes half the way home in more. */
const MOST_MOVES = 1000
const move = /^(\d?)([LRDUBFXYZMES])(w?)('?)([1-3]?)$/

/** 1 for a solved cube, else the share of displaced stickers that came home, from half of them on. */
export const rubiksCube: Hardening = ({ entry, upstream }) => {
  const { cube_size: size, scramble_moves: scramble } = Scramble.parse(entry.metadata)
  const turns = turnsOf(scramble, size)
  if (turns === undefined) throw new Error(`no scramble: ${scramble}`)
  const displaced = strangers(turned(size, turns))
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      if (isWhole(upstream(reading))) return 1
      const more = turnsOf(reading, size)
      if (more === undefined || more.length > MOST_MOVES) return 0
      return pastHalf(displaced - strangers(turned(size, [...turns, ...more])), displaced)
    })
}

function turned(size: number, turns: readonly Turn[]): Cube {
  const cube = newCube(size)
  for (const one of turns) turn(cube, one)
  return cube
}

/** Undefined where a word is no move of such a cube. */
function turnsOf(text: string, size: number): Turn[] | undefined {
  const turns: Turn[] = []
  for (const word of split(text)) {
    const [found, layer = '', face = '', wide = '', reversed = '', count = ''] = move.exec(word) ?? []
    if (found === undefined || Number(layer) > size || ('MES'.includes(face) && size % 2 === 0)) return undefined
    const depth = layer === '' ? (wide ? 2 : 1) : Number(layer)
    if (depth === 0) return undefined
    turns.push({ face, depth, wide: wide !== '', quarters: (reversed ? -1 : 1) * Number(count || '1') })
  }
  return turns
}

/** Stickers of another color than the middle of their face. */
function strangers({ size, colors }: Cube): number {
  return facesOf(size).reduce((sum, stickers) => {
    const middle = colors[stickers[(size >> 1) * size + (size >> 1)] ?? 0]
    return sum + stickers.filter((sticker) => colors[sticker] !== middle).length
  }, 0)
}

/** The stickers of each face, row by row, as `cube.ts` numbers them. */
function facesOf(size: number): number[][] {
  const line = Array.from({ length: size }, (_, i) => i)
  const sticker = (place: readonly number[], axis: number) =>
    place.reduce((index, at) => index * size + at, 0) * 3 + axis
  return [0, 1, 2].flatMap((axis) =>
    [0, size - 1].map((end) => line.flatMap((a) => line.map((b) => sticker([a, b].toSpliced(axis, 0, end), axis)))),
  )
}
