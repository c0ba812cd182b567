/** Rubik’s cube of any size as stickers, each known by its place and the axis that it faces, and the rule that turns it. */
import { z } from 'zod'
import { catchPythonError, parseInteger } from './python/numbers.ts'
import { PY_D, splitWhitespace } from './python/text.ts'
import { defineScorer } from './scorer.ts'

/** A turn of `quarters` × 90°; `depth` counts layers from the face, all of them where it is wide. */
export interface CubeTurn {
  face: string
  depth: number
  isWide: boolean
  quarters: number
}

/** `colors[i]` is the color at sticker i: `((x * n + y) * n + z) * 3 + axis`; only those on the outside are ever read. */
export interface Cube {
  readonly size: number
  readonly colors: Uint8Array
}

/** What a turn does to the cubes of one size: how often the colors of every four stickers go round. */
interface StickerCycles {
  /** Four after four; each gives its color to the next one. */
  cycles: Uint16Array
  count: number
}

/** The faces, layers and whole turns of each axis. */
const AXIS_FACES = ['LRMX', 'DUEY', 'BFSZ']
const FORWARD_FACES = 'LUBMY'
const FAR_FACES = 'RUF'
const NO_CYCLES = new Uint16Array()
const cyclesCache = new Map<string, Uint16Array>()

/** A solved cube. */
export function createSolvedCube(size: number): Cube {
  const colors = new Uint8Array(size ** 3 * 3)
  for (const [face, stickers] of listFaceStickers(size).entries())
    for (const sticker of stickers) colors[sticker] = face
  return { size, colors }
}

export function isSolved({ size, colors }: Cube): boolean {
  return listFaceStickers(size).every((stickers) =>
    stickers.every((sticker) => colors[sticker] === colors[stickers[0] ?? 0]),
  )
}

/** The turn that the parts of a word name: layer, face, `w`, `'` and count, each empty if the word has none. */
export function createTurn([layer = '', face = '', wide = '', reversed = '', count = '']: readonly string[]): CubeTurn {
  const depth = layer === '' ? (wide ? 2 : 1) : Number(layer)
  return { face, depth, isWide: wide !== '', quarters: (reversed ? -1 : 1) * Number(count || '1') }
}

export function applyTurn(cube: Cube, one: CubeTurn): void {
  applyStickerCycles(cube, getStickerCycles(cube.size, one))
}

function applyStickerCycles({ colors }: Cube, { cycles, count }: StickerCycles): void {
  for (let i = 0; i < cycles.length; i += 4) {
    // By how far each color goes on; written out, for this is where a long answer's time goes.
    const p = colors[cycles[i] ?? 0] ?? 0
    const q = colors[cycles[i + 1] ?? 0] ?? 0
    const r = colors[cycles[i + 2] ?? 0] ?? 0
    const s = colors[cycles[i + 3] ?? 0] ?? 0
    colors[cycles[i + count] ?? 0] = p
    colors[cycles[i + ((1 + count) & 3)] ?? 0] = q
    colors[cycles[i + ((2 + count) & 3)] ?? 0] = r
    colors[cycles[i + ((3 + count) & 3)] ?? 0] = s
  }
}

function getStickerCycles(size: number, { face, depth, isWide: wide, quarters }: CubeTurn): StickerCycles {
  const count = (((quarters * (FORWARD_FACES.includes(face) ? 1 : -1)) % 4) + 4) % 4
  const [first, last] = getLayerRange(face, depth, wide, size)
  const axis = AXIS_FACES.findIndex((faces) => faces.includes(face))
  const key = `${size} ${axis} ${first} ${last}`
  const cycles = cyclesCache.get(key) ?? computeCycles(size, axis, first, last)
  cyclesCache.set(key, cycles)
  return { cycles: count === 0 ? NO_CYCLES : cycles, count }
}

function getLayerRange(face: string, depth: number, wide: boolean, size: number): [first: number, last: number] {
  if ('XYZ'.includes(face)) return [0, size - 1]
  if ('MES'.includes(face)) return [(size - 1) / 2, (size - 1) / 2]
  const [first, last] = wide ? [0, depth - 1] : [depth - 1, depth - 1]
  return FAR_FACES.includes(face) ? [size - 1 - last, size - 1 - first] : [first, last]
}

function computeCycles(size: number, axis: number, first: number, last: number): Uint16Array {
  const layer = listOuterPositions(size).filter((place) => (place[axis] ?? 0) >= first && (place[axis] ?? 0) <= last)
  const seen = new Set<number>()
  const cycles = layer.flatMap((place) => {
    const sides = [0, 1, 2].filter((side) => isOuterLayer(size, place[side]))
    return sides.flatMap((side) => {
      const cycle = traceCycle(size, axis, place, side)
      if (cycle.some((at) => seen.has(at)) || new Set(cycle).size < 4) return []
      for (const at of cycle) seen.add(at)
      return cycle
    })
  })
  return Uint16Array.from(cycles)
}

/** One quarter takes (a, b) of the other two axes to (n - 1 - b, a) and lets these axes change sides. */
function traceCycle(size: number, axis: number, place: readonly number[], side: number): number[] {
  const [a = 0, b = 0] = [0, 1, 2].filter((other) => other !== axis)
  const at = [...place]
  return [side, side === axis ? side : a + b - side, side, side === axis ? side : a + b - side].map((faced) => {
    const here = getStickerIndex(size, at, faced)
    const [x = 0, y = 0] = [at[a], at[b]]
    at[a] = size - 1 - y
    at[b] = x
    return here
  })
}

function getStickerIndex(size: number, [x = 0, y = 0, z = 0]: readonly number[], side: number): number {
  return ((x * size + y) * size + z) * 3 + side
}

function listOuterPositions(size: number): number[][] {
  const line = Array.from({ length: size }, (_, i) => i)
  const places = line.flatMap((x) => line.flatMap((y) => line.map((z) => [x, y, z])))
  return places.filter((place) => place.some((at) => isOuterLayer(size, at)))
}

function isOuterLayer(size: number, at: number | undefined): boolean {
  return at === 0 || at === size - 1
}

/** The stickers of each face, row by row. */
export function listFaceStickers(size: number): number[][] {
  const places = listOuterPositions(size)
  const face = (axis: number, at: number) =>
    places.filter((place) => place[axis] === at).map((place) => getStickerIndex(size, place, axis))
  return [0, 1, 2].flatMap((axis) => [face(axis, 0), face(axis, size - 1)])
}

/** The library writes a count out as so many moves; beyond some billions it runs out of memory and scores 0.01. */
const MAX_COUNT = 2n ** 33n
const COUNTED_MOVE_PATTERN = new RegExp(`^([^${PY_D}]*)(${PY_D}*)$`, 'v')
const SCRAMBLE_MOVE_PATTERN = /^(\d*)([LRDUBFXYZMES])(w?)('?)(\d?)$/
const ANSWER_MOVE_PATTERN = /^(?:([LRDUBF])(w?)|([XYZMES]))('?)$/

/** Turns the cube; 0.01 where it is not solved. Rule of `reasoning_gym/cognition/rubiks_cube.py` with the moves of `magiccube`. */
export const rubiksCube = defineScorer({
  metadata: z.looseObject({ cube_size: z.int().min(2).max(7), scramble_moves: z.string() }),
  score(answer, { metadata }) {
    const { cube_size: size, scramble_moves: scramble } = metadata
    const moves = parseMoves(answer, size)
    if (moves === undefined) return 0.01
    const cube = createSolvedCube(size)
    for (const word of scramble.split(' ')) applyTurn(cube, parseScrambleMove(word))
    for (const move of moves) applyStickerCycles(cube, move)
    return isSolved(cube) ? 1 : 0.01
  },
})

function parseScrambleMove(word: string): CubeTurn {
  const [found, ...parts] = SCRAMBLE_MOVE_PATTERN.exec(word) ?? []
  if (found === undefined) throw new Error(`no move of a scramble: ${word}`)
  return createTurn(parts)
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
  const count = catchPythonError(() => parseInteger(digits || '1'), undefined)
  return count === undefined || count > MAX_COUNT ? undefined : count
}
