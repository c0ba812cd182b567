/** A cube of any size as stickers, each known by its place and the axis that it faces. */

/** A turn of `quarters` × 90°; `depth` counts layers from the face, all of them where it is wide. */
export interface Turn {
  face: string
  depth: number
  wide: boolean
  quarters: number
}

/** `colors[i]` is the color at sticker i: `((x * n + y) * n + z) * 3 + axis`; only those on the outside are ever read. */
export interface Cube {
  readonly size: number
  colors: Uint8Array
}

/** The sticker at `to[i]` comes from `from[i]`. */
interface Move {
  from: Uint16Array
  to: Uint16Array
}

const AXES: Readonly<Record<string, 0 | 1 | 2>> = {
  ...{ L: 0, R: 0, M: 0, X: 0 },
  ...{ D: 1, U: 1, E: 1, Y: 1 },
  ...{ B: 2, F: 2, S: 2, Z: 2 },
}
const FORWARD = 'LUBMY'
const FAR_SIDE = 'RUF'
const moves = new Map<string, Move>()

/** A solved cube. */
export function newCube(size: number): Cube {
  const colors = new Uint8Array(size ** 3 * 3)
  for (const [face, stickers] of facesOf(size).entries()) for (const sticker of stickers) colors[sticker] = face
  return { size, colors }
}

export function isSolved({ size, colors }: Cube): boolean {
  return facesOf(size).every((stickers) => stickers.every((sticker) => colors[sticker] === colors[stickers[0] ?? 0]))
}

export function turn(cube: Cube, { face, depth, wide, quarters }: Turn): void {
  const count = (((quarters * (FORWARD.includes(face) ? 1 : -1)) % 4) + 4) % 4
  if (count === 0) return
  const [first, last] = layersOf(face, depth, wide, cube.size)
  const axis = AXES[face] ?? 0
  const { from, to } = remembered(cube.size, axis, first, last, count)
  const before = cube.colors.slice()
  for (let i = 0; i < to.length; i++) cube.colors[to[i] ?? 0] = before[from[i] ?? 0] ?? 0
}

function layersOf(face: string, depth: number, wide: boolean, size: number): [first: number, last: number] {
  if ('XYZ'.includes(face)) return [0, size - 1]
  if ('MES'.includes(face)) return [(size - 1) / 2, (size - 1) / 2]
  const [first, last] = wide ? [0, depth - 1] : [depth - 1, depth - 1]
  return FAR_SIDE.includes(face) ? [size - 1 - last, size - 1 - first] : [first, last]
}

function remembered(size: number, axis: 0 | 1 | 2, first: number, last: number, count: number): Move {
  const key = `${size} ${axis} ${first} ${last} ${count}`
  const known = moves.get(key)
  if (known !== undefined) return known
  const stickers = outer(size)
    .filter((place) => (place[axis] ?? 0) >= first && (place[axis] ?? 0) <= last)
    .flatMap((place) => [0, 1, 2].filter((side) => isEnd(size, place[side])).map((side) => ({ place, side })))
  const move = {
    from: Uint16Array.from(stickers, ({ place, side }) => sticker(size, place, side)),
    to: Uint16Array.from(stickers, ({ place, side }) => arrival(size, axis, place, side, count)),
  }
  moves.set(key, move)
  return move
}

/** One quarter takes (a, b) of the other two axes to (n - 1 - b, a) and lets these axes change sides. */
function arrival(size: number, axis: number, place: readonly number[], side: number, count: number): number {
  const [a = 0, b = 0] = [0, 1, 2].filter((other) => other !== axis)
  const to = [...place]
  for (let i = 0; i < count; i++) [to[a], to[b]] = [size - 1 - (to[b] ?? 0), to[a] ?? 0]
  const other = side === a ? b : a
  return sticker(size, to, side === axis || count % 2 === 0 ? side : other)
}

function sticker(size: number, [x = 0, y = 0, z = 0]: readonly number[], side: number): number {
  return ((x * size + y) * size + z) * 3 + side
}

function outer(size: number): number[][] {
  const line = Array.from({ length: size }, (_, i) => i)
  const places = line.flatMap((x) => line.flatMap((y) => line.map((z) => [x, y, z])))
  return places.filter((place) => place.some((at) => isEnd(size, at)))
}

function isEnd(size: number, at: number | undefined): boolean {
  return at === 0 || at === size - 1
}

function facesOf(size: number): number[][] {
  const places = outer(size)
  const face = (axis: number, at: number) =>
    places.filter((place) => place[axis] === at).map((place) => sticker(size, place, axis))
  return [0, 1, 2].flatMap((axis) => [face(axis, 0), face(axis, size - 1)])
}
