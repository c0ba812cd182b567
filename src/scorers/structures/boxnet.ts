/** The share of boxes that the plan brings to their targets, at least 0.05; raises on what is no plan. Rule of `reasoning_gym/games/boxnet.py`. */
import { z } from 'zod'
import { loads } from '../python/json.ts'
import { floatRepr, parseFloat64 } from '../python/numbers.ts'
import { caught } from '../python/raised.ts'
import { PY_D, PY_S } from '../python/text.ts'
import { iterate, PyDict, PyTypeError, type PyValue } from '../python/values.ts'
import { defineScorer, InvalidAnswer } from '../scorer.ts'

type Grid = Map<string, string[]>

interface Action {
  square: readonly number[]
  item: string
  /** A square's coordinates, or the text as it stands. */
  goal: readonly number[] | string
}

const number = new RegExp(`${PY_D}+(?:\\.${PY_D}*)?`, 'gv')
const blank = new RegExp(PY_S, 'v')
const START = 'move('

export const boxnet = defineScorer({
  metadata: z.looseObject({
    initial_state: z.record(z.string(), z.array(z.string())).transform((state) => new Map(Object.entries(state))),
  }),
  score(answer, entry) {
    const plan = caught(() => loads(answer), undefined)
    if (plan === undefined) return 0
    const before = entry.metadata.initial_state
    const grid: Grid = new Map([...before].map(([square, items]) => [square, [...items]]))
    for (const step of stepsOf(plan)) for (const action of actionsOf(step)) act(grid, action)
    const boxes = countBoxes(before)
    if (boxes === 0) throw new InvalidAnswer('a division by zero')
    return Math.max(0.05, (boxes - countBoxes(grid)) / boxes)
  },
})

function stepsOf(plan: PyValue): PyDict[] {
  return caughtAsInvalid(() => iterate(plan)).map((step) => {
    if (!(step instanceof PyDict)) throw new InvalidAnswer('a step is no dict')
    return step
  })
}

/** Of two actions for a square the last counts, in the place of the first. */
function actionsOf(step: PyDict): Iterable<Action> {
  const actions = new Map<string, Action>()
  for (const [key, value] of step.entries()) {
    if (typeof key !== 'string' || typeof value !== 'string') throw new InvalidAnswer('an action is no text')
    const move = parseMove(value)
    const square = numbersIn(key)
    const goal = move?.location.includes('square') ? numbersIn(move.location) : move?.location
    if (move !== undefined && goal !== undefined) actions.set(square.join(), { square, item: move.item, goal })
  }
  return actions.values()
}

/**
 * Python's `move\((.*?),\s(.*?)\)` in linear time: the first comma and blank decide, for if no bracket closes after them
 * in that line none does after later ones; only a comma at the line's end has the next line to look in.
 */
function parseMove(text: string): { item: string; location: string } | undefined {
  if (!text.startsWith(START)) return undefined
  const end = text.includes('\n') ? text.indexOf('\n') : text.length
  let comma = text.indexOf(',', START.length)
  while (comma !== -1 && comma + 1 < end && !blank.test(text[comma + 1] ?? '')) comma = text.indexOf(',', comma + 1)
  if (comma === -1 || comma + 1 > end) return undefined
  return between(text, comma) ?? (text[end - 1] === ',' ? between(text, end - 1) : undefined)
}

function between(text: string, comma: number): { item: string; location: string } | undefined {
  const close = text.indexOf(')', comma + 2)
  const location = text.slice(comma + 2, close)
  if (close === -1 || comma + 1 >= text.length || location.includes('\n')) return undefined
  return { item: text.slice(START.length, comma), location }
}

function act(grid: Grid, { square, item, goal }: Action): void {
  const items = grid.get(squareOf(square))
  if (items === undefined || !items.includes(item)) return
  if (typeof goal !== 'string') moveTo(grid, square, item, goal)
  else if (items.includes(goal) && item.startsWith('box_') && goal === `target_${item.slice(4)}`) {
    remove(items, item)
    remove(items, goal)
  }
}

function moveTo(grid: Grid, square: readonly number[], item: string, goal: readonly number[]): void {
  const [dx, dy] = [distance(square[0], goal[0]), distance(square[1], goal[1])]
  if (Number.isNaN(dx) || (Number.isNaN(dy) && dx <= 1 && Number.isInteger(dx)))
    throw new InvalidAnswer('half a square')
  if (!((dx === 0 && dy === 1) || (dx === 1 && dy === 0))) return
  remove(grid.get(squareOf(square)) ?? [], item)
  const there = grid.get(squareOf(goal))
  if (there === undefined) throw new InvalidAnswer('no such square')
  there.push(item)
}

function distance(a: number | undefined, b: number | undefined): number {
  return a === undefined || b === undefined ? Number.NaN : Math.abs(a - b)
}

/** A square's name in the grid; throws where an agent has fewer than two coordinates. */
function squareOf([x, y]: readonly number[]): string {
  if (x === undefined || y === undefined) throw new InvalidAnswer('no square')
  return `${floatRepr(x)}_${floatRepr(y)}`
}

function remove(items: string[], item: string): void {
  items.splice(items.indexOf(item), 1)
}

function numbersIn(text: string): number[] {
  return (text.match(number) ?? []).map(parseFloat64)
}

function countBoxes(grid: ReadonlyMap<string, readonly string[]>): number {
  return [...grid.values()].flat().filter((item) => item.startsWith('box_')).length
}

function caughtAsInvalid<T>(attempt: () => T): T {
  try {
    return attempt()
  } catch (error) {
    if (error instanceof PyTypeError) throw new InvalidAnswer('no list', { cause: error })
    throw error
  }
}
