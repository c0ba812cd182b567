/** The share of boxes that the plan brings to their targets, at least 0.05; raises on what is no plan. Rule of `reasoning_gym/games/boxnet.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { loads } from '../python/json.ts'
import { floatRepr, parseFloat64 } from '../python/numbers.ts'
import { PY_D, PY_S } from '../python/text.ts'
import { iterate, PyDict, PyTypeError, type PyValue } from '../python/values.ts'
import { defineScorer, InvalidAnswerError } from '../scorer.ts'

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
    const boxes = countBoxes(before)
    if (boxes === 0) throw new InvalidAnswerError('a division by zero')
    return Math.max(0.05, (boxes - countBoxes(grid)) / boxes)
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

function removeItem(items: string[], item: string): void {
  items.splice(items.indexOf(item), 1)
}

function findNumbers(text: string): number[] {
  return (text.match(NUMBER_PATTERN) ?? []).map(parseFloat64)
}

function countBoxes(grid: ReadonlyMap<string, readonly string[]>): number {
  return [...grid.values()].flat().filter((item) => item.startsWith('box_')).length
}

function rethrowAsInvalidAnswer<T>(attempt: () => T): T {
  try {
    return attempt()
  } catch (error) {
    if (error instanceof PyTypeError) throw new InvalidAnswerError('no list', { cause: error })
    throw error
  }
}
