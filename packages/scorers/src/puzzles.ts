/** Rules that check a solution or a plan against its puzzle. */
import { z } from 'zod'
import { loads } from './python/json.ts'
import { catchPythonError, floatRepr, PyValueError, parseFloat64, parseInteger } from './python/numbers.ts'
import { lower, PY_D, PY_S, splitWhitespace, strip } from './python/text.ts'
import { equals, hashKey, iterate, PyDict, PyLookupError, PyTypeError, type PyValue } from './python/values.ts'
import { defineScorer, InvalidAnswerError, rethrowAsInvalidAnswer } from './scorer.ts'

type Grid = Map<string, string[]>

interface Action {
  square: readonly number[]
  item: string
  /** A square's coordinates, or the text as it stands. */
  goal: readonly number[] | string
}

const NUMBER_PATTERN = new RegExp(`${PY_D}+(?:\\.${PY_D}*)?`, 'gv')
const SPACE_PATTERN = new RegExp(PY_S, 'v')
const MOVE_PREFIX = 'move('

/** The share of boxes that the plan brings to their targets, at least 0.05; raises on what is no plan. Rule of `reasoning_gym/games/boxnet.py`. */
export const boxnet = defineScorer({
  metadata: z.looseObject({
    initial_state: z.record(z.string(), z.array(z.string())).transform((state) => new Map(Object.entries(state))),
  }),
  score(answer, entry) {
    const plan = catchPythonError(() => loads(answer), undefined)
    if (plan === undefined) return 0
    const before = entry.metadata.initial_state
    const grid: Grid = new Map([...before].map(([square, items]) => [square, [...items]]))
    for (const step of parseSteps(plan)) for (const action of parseActions(step)) applyAction(grid, action)
    const boxes = countBoxes(before.values())
    if (boxes === 0) throw new InvalidAnswerError('a division by zero')
    return Math.max(0.05, (boxes - countBoxes(grid.values())) / boxes)
  },
})

function parseSteps(plan: PyValue): PyDict[] {
  return rethrowAsInvalidAnswer(() => iterate(plan)).map((step) => {
    if (!(step instanceof PyDict)) throw new InvalidAnswerError('a step is no dict')
    return step
  })
}

/** Of two actions for a square the last counts, in the place of the first. */
function parseActions(step: PyDict): Iterable<Action> {
  const actions = new Map<string, Action>()
  for (const [key, value] of step.entries()) {
    if (typeof key !== 'string' || typeof value !== 'string') throw new InvalidAnswerError('an action is no text')
    const move = parseMove(value)
    const square = findNumbers(key)
    const goal = move?.location.includes('square') ? findNumbers(move.location) : move?.location
    if (move !== undefined && goal !== undefined) actions.set(square.join(), { square, item: move.item, goal })
  }
  return actions.values()
}

/**
 * Python's `move\((.*?),\s(.*?)\)` in linear time: the first comma and blank decide, for if no bracket closes after them
 * in that line none does after later ones; only a comma at the line's end has the next line to look in.
 */
function parseMove(text: string): { item: string; location: string } | undefined {
  if (!text.startsWith(MOVE_PREFIX)) return undefined
  const end = text.includes('\n') ? text.indexOf('\n') : text.length
  let comma = text.indexOf(',', MOVE_PREFIX.length)
  while (comma !== -1 && comma + 1 < end && !SPACE_PATTERN.test(text[comma + 1] ?? ''))
    comma = text.indexOf(',', comma + 1)
  if (comma === -1 || comma + 1 > end) return undefined
  return parseMoveAround(text, comma) ?? (text[end - 1] === ',' ? parseMoveAround(text, end - 1) : undefined)
}

function parseMoveAround(text: string, comma: number): { item: string; location: string } | undefined {
  const close = text.indexOf(')', comma + 2)
  const location = text.slice(comma + 2, close)
  if (close === -1 || comma + 1 >= text.length || location.includes('\n')) return undefined
  return { item: text.slice(MOVE_PREFIX.length, comma), location }
}

function applyAction(grid: Grid, { square, item, goal }: Action): void {
  const items = grid.get(formatSquareKey(square))
  if (items === undefined || !items.includes(item)) return
  if (typeof goal !== 'string') moveItem(grid, square, item, goal)
  else if (items.includes(goal) && item.startsWith('box_') && goal === `target_${item.slice(4)}`) {
    removeItem(items, item)
    removeItem(items, goal)
  }
}

function moveItem(grid: Grid, square: readonly number[], item: string, goal: readonly number[]): void {
  const [dx, dy] = [getDistance(square[0], goal[0]), getDistance(square[1], goal[1])]
  if (Number.isNaN(dx) || (Number.isNaN(dy) && dx <= 1 && Number.isInteger(dx)))
    throw new InvalidAnswerError('half a square')
  if (!((dx === 0 && dy === 1) || (dx === 1 && dy === 0))) return
  removeItem(grid.get(formatSquareKey(square)) ?? [], item)
  const there = grid.get(formatSquareKey(goal))
  if (there === undefined) throw new InvalidAnswerError('no such square')
  there.push(item)
}

function getDistance(a: number | undefined, b: number | undefined): number {
  return a === undefined || b === undefined ? Number.NaN : Math.abs(a - b)
}

/** A square's name in the grid; throws where an agent has fewer than two coordinates. */
function formatSquareKey([x, y]: readonly number[]): string {
  if (x === undefined || y === undefined) throw new InvalidAnswerError('no square')
  return `${floatRepr(x)}_${floatRepr(y)}`
}

/** Whether the item was there. */
export function removeItem(items: string[], item: string): boolean {
  const at = items.indexOf(item)
  if (at === -1) return false
  items.splice(at, 1)
  return true
}

function findNumbers(text: string): number[] {
  return (text.match(NUMBER_PATTERN) ?? []).map(parseFloat64)
}

export function countBoxes(squares: Iterable<readonly string[]>): number {
  return [...squares].flat().filter((item) => item.startsWith('box_')).length
}

const CryptarithmPuzzle = z.looseObject({
  words_letters: z.array(z.string()),
  result_letters: z.string(),
  allow_leading_zero: z.boolean().default(false),
})
type CryptarithmPuzzle = z.infer<typeof CryptarithmPuzzle>

/** 1 for digits that solve the sum, 0.01 for any others. Rule of `reasoning_gym/algorithmic/cryptarithm.py`. */
export const cryptarithm = defineScorer({
  metadata: CryptarithmPuzzle,
  score(answer, entry) {
    const digits = catchPythonError(() => parseDigits(answer), undefined)
    if (digits === undefined) return 0
    return isSolution(entry.metadata, digits) ? 1 : 0.01
  },
})

/** Of a letter that comes twice the last counts. */
function parseDigits(answer: string): Map<string, bigint> {
  return new Map(
    answer.split(',').map((pair) => {
      const [letter = '', digit, ...more] = strip(pair).split('=')
      if (digit === undefined || more.length > 0) throw new PyValueError('no pair')
      return [strip(letter), parseInteger(strip(digit))]
    }),
  )
}

function isSolution(puzzle: CryptarithmPuzzle, digits: ReadonlyMap<string, bigint>): boolean {
  const words = [...puzzle.words_letters, puzzle.result_letters]
  const letters = new Set(words.join(''))
  if (letters.size !== digits.size || [...letters].some((letter) => !digits.has(letter))) return false
  const values = [...digits.values()]
  if (values.some((digit) => digit < 0n || digit > 9n) || new Set(values).size !== values.length) return false
  if (!puzzle.allow_leading_zero && words.some((word) => digits.get(word[0] ?? '') === 0n)) return false
  const [result = 0n, ...terms] = words.map((word) => toNumber(word, digits)).reverse()
  return terms.reduce((sum, term) => sum + term, 0n) === result
}

function toNumber(word: string, digits: ReadonlyMap<string, bigint>): bigint {
  return [...word].reduce((value, letter) => value * 10n + (digits.get(letter) ?? 0n), 0n)
}

const ColoringPuzzle = z.looseObject({
  vertices: z.array(z.int()),
  edges: z.array(z.strictObject({ $tuple: z.tuple([z.int(), z.int()]) })),
  color_options: z.array(z.int()),
})
type ColoringPuzzle = z.infer<typeof ColoringPuzzle>

/** 1 for a coloring without conflict, 0.01 for any other that can be parsed. Rule of `reasoning_gym/algorithmic/graph_color.py`. */
export const graphColor = defineScorer({
  metadata: z.looseObject({ puzzle: ColoringPuzzle }),
  score: (answer, entry) => catchPythonError(() => (isColoring(entry.metadata.puzzle, loads(answer)) ? 1 : 0.01), 0),
})

function isColoring(puzzle: ColoringPuzzle, given: PyValue): boolean {
  const colorOf = createColorLookup(given)
  const colors = new Map<number, PyValue>()
  for (const vertex of puzzle.vertices) {
    const color = colorOf(vertex)
    if (color === undefined) return false
    colors.set(vertex, color)
  }
  const allowed = new Set(puzzle.color_options.map((color) => hashKey(BigInt(color))))
  if (![...colors.values()].every((color) => allowed.has(hashKey(color)))) return false
  return puzzle.edges.every(({ $tuple: [u, v] }) => !equals(colors.get(u) ?? null, colors.get(v) ?? null))
}

/** A vertex's color, if any. A list has a vertex's color at its index if the vertex is anywhere among its items. */
function createColorLookup(given: PyValue): (vertex: number) => PyValue | undefined {
  if (given instanceof PyDict) return (vertex) => given.get(String(vertex))
  if (!Array.isArray(given)) throw new PyTypeError('no container')
  const members = new Set(given.filter(isScalar).map(hashKey))
  return (vertex) => {
    if (!members.has(hashKey(BigInt(vertex)))) {
      if (members.has(hashKey(String(vertex)))) throw new PyTypeError('no index')
      return undefined
    }
    const color = given[vertex]
    if (color === undefined) throw new PyLookupError('no such index')
    return color
  }
}

function isScalar(value: PyValue): boolean {
  return !Array.isArray(value) && !(value instanceof PyDict)
}

const JugsPuzzle = z.looseObject({ jug_capacities: z.array(z.int()), target: z.int() })
type JugsPuzzle = z.infer<typeof JugsPuzzle>

/** 1 if the moves leave the target in a jug, 0.01 for other legal moves. Rule of `reasoning_gym/algorithmic/jugs.py`. */
export const jugs = defineScorer({
  metadata: z.looseObject({ puzzle: JugsPuzzle }),
  score: (answer, entry) => catchPythonError(() => (reachesTarget(entry.metadata.puzzle, loads(answer)) ? 1 : 0.01), 0),
})

function reachesTarget({ jug_capacities: capacities, target }: JugsPuzzle, moves: PyValue): boolean {
  const levels = capacities.map(() => 0)
  for (const move of iterate(moves)) {
    if (typeof move !== 'string') throw new PyTypeError('no text')
    const [deed, jug] = splitWhitespace(move)
    if (jug === undefined) throw new PyLookupError('half a move')
    if (deed === 'fill') fillJug(levels, capacities, parseJugIndex(jug, capacities))
    else if (deed === 'empty') levels[parseJugIndex(jug, capacities)] = 0
    else if (deed === 'pour') pourJug(levels, capacities, jug)
    else throw new PyValueError('no such move')
  }
  return levels.includes(target)
}

function fillJug(levels: number[], capacities: readonly number[], jug: number): void {
  levels[jug] = capacities[jug] ?? 0
}

function pourJug(levels: number[], capacities: readonly number[], jugs: string): void {
  const [source = '', dest = '', ...more] = jugs.split('->')
  if (more.length > 0) throw new PyValueError('three jugs')
  const [i, j] = [parseJugIndex(source, capacities), parseJugIndex(dest, capacities)]
  const [from, to, room] = [levels[i] ?? 0, levels[j] ?? 0, capacities[j] ?? 0]
  const amount = Math.min(from, room - to)
  levels[i] = from - amount
  levels[j] = (levels[j] ?? 0) + amount
}

/** Jugs are named from A on. */
function parseJugIndex(jug: string, capacities: readonly number[]): number {
  const index = jug.length === 1 ? jug.charCodeAt(0) - 65 : -1
  if (index < 0 || index >= capacities.length) throw new PyLookupError('no such jug')
  return index
}

const KnightSwapPuzzle = z.looseObject({
  board: z.record(z.string(), z.array(z.string())).transform((board) => new Map(Object.entries(board))),
  pieces: z.record(z.string(), z.string().nullable()).transform((pieces) => new Map(Object.entries(pieces))),
  start_turn: z.string(),
  is_possible: z.boolean(),
  solution: z.array(z.unknown()).nullable(),
})
type KnightSwapPuzzle = z.infer<typeof KnightSwapPuzzle>

/** 1 for moves that swap the sides, less by the share of moves too many, 0.05 for other legal moves; "No" where none do. Rule of `reasoning_gym/games/knight_swap.py`. */
export const knightSwap = defineScorer({
  metadata: KnightSwapPuzzle,
  score(answer, entry) {
    const given = strip(answer)
    const no = lower(given) === 'no'
    if (!entry.metadata.is_possible) return no ? 1 : 0
    const moves = no ? null : catchPythonError(() => loads(given), null)
    if (!Array.isArray(moves)) return 0
    const pieces = applyMoves(entry.metadata, moves)
    if (pieces === undefined) return 0
    if (!isSwapped(entry.metadata.pieces, pieces)) return 0.05
    const optimal = entry.metadata.solution?.length ?? 0
    return moves.length <= optimal ? 1 : optimal / moves.length
  },
})

/** The pieces after the moves, or undefined where one is not legal. */
function applyMoves(puzzle: KnightSwapPuzzle, moves: readonly PyValue[]): Map<string, string | null> | undefined {
  const pieces = new Map(puzzle.pieces)
  let turn = puzzle.start_turn
  for (const move of moves) {
    const [color = '', start = '', end = '', ...more] = typeof move === 'string' ? move.split(',') : []
    if (more.length > 0 || color !== turn || pieces.get(start) !== color) return undefined
    if (!puzzle.board.get(start)?.includes(end) || (pieces.get(end) ?? null) !== null) return undefined
    pieces.set(end, color).set(start, null)
    turn = turn === 'w' ? 'B' : 'w'
  }
  return pieces
}

function isSwapped(before: ReadonlyMap<string, string | null>, after: ReadonlyMap<string, string | null>): boolean {
  return occupiesSameSquares(before, 'w', after, 'B') && occupiesSameSquares(before, 'B', after, 'w')
}

function occupiesSameSquares(
  before: ReadonlyMap<string, string | null>,
  was: string,
  after: ReadonlyMap<string, string | null>,
  is: string,
): boolean {
  return [...after.keys()].every((square) => (before.get(square) === was) === (after.get(square) === is))
}
