/** Correct and wrong answers to an item. A correct answer comes from the item, its metadata, or a solver. */
import { findNovelConclusion } from '@reasoning-gym-server/scorers/hardened/propositional-logic'
import { EXIT_CELL, isInLine, listCells, type Piece, parsePieces } from '@reasoning-gym-server/scorers/moves'
import { z } from 'zod'
import type { KnownItem } from './item-lookup.ts'

/** A wrong answer for every task. It earns 0 in most tasks, and less than 1 wherever an answer can. */
export const WRONG_ANSWER = 'I am not sure'

/** Tasks whose items have no reference answer, and how to derive one from the metadata. */
const METADATA_ANSWER_SCHEMAS: Record<string, z.ZodType<string | undefined>> = {
  propositional_logic: z
    .looseObject({ example_answer: z.string() })
    .transform((metadata) => concludeUnderBothScorings(metadata) ?? metadata.example_answer),
  graph_color: z
    .object({ possible_answer: z.object({ $dict: z.array(z.tuple([z.number(), z.number()])) }) })
    .transform((m) => JSON.stringify(Object.fromEntries(m.possible_answer.$dict))),
  rubiks_cube: z.object({ scramble_moves: z.string() }).transform((m) => invertScramble(m.scramble_moves)),
  rush_hour: z.object({ board_config: z.string() }).transform((m) => solveRushHour(m.board_config)),
  boxnet: z
    .object({ initial_state: z.record(z.string(), z.array(z.string())) })
    .transform((m) => solveBoxnet(m.initial_state)),
}

/** Returns a correct answer, or undefined if none is known. The model answers such an item wrong. */
export function getCorrectAnswer({
  task,
  answer,
  metadata,
}: Pick<KnownItem, 'task' | 'answer' | 'metadata'>): string | undefined {
  return answer ?? METADATA_ANSWER_SCHEMAS[task]?.safeParse(metadata).data
}

/** Upstream scoring gives a bare variable 0.25, hardened scoring 1. Written twice, it earns 1 in both. */
function concludeUnderBothScorings(metadata: { example_answer: string }): string | undefined {
  const conclusion = findNovelConclusion({ question: '', answer: null, metadata })
  return conclusion?.length === 1 ? `(${conclusion} ∧ ${conclusion})` : conclusion
}

/**
 * Moves each box to its target one square at a time, along its row first and then along its column. The contents of each square
 * are given by `row_column` of its center. Returns a plan in the format of answers, or undefined if a box has no target.
 */
function solveBoxnet(squares: Record<string, string[]>): string | undefined {
  const things = Object.entries(squares).flatMap(([square, names]) => names.map((name) => ({ square, name })))
  const targets = things.filter(({ name }) => name.startsWith('target_'))
  const plan: Record<string, string>[] = []
  for (const { square, name } of things.filter(({ name }) => name.startsWith('box_'))) {
    const at = targets.findIndex((target) => target.name === `target_${name.slice('box_'.length)}`)
    const [target] = at === -1 ? [] : targets.splice(at, 1) // two boxes of one color have one target each
    if (!target) return undefined
    plan.push(...planBoxMoves(name, square, target))
  }
  return JSON.stringify(plan)
}

function planBoxMoves(box: string, from: string, target: { square: string; name: string }): Record<string, string>[] {
  const [row = 0, column = 0] = from.split('_').map(Number)
  const [endRow = 0, endColumn = 0] = target.square.split('_').map(Number)
  const path = [
    ...listSteps(row, endRow).map((r): [number, number] => [r, column]),
    ...listSteps(column, endColumn)
      .slice(1)
      .map((c): [number, number] => [endRow, c]),
  ]
  return path.map((square, k) => {
    const next = path[k + 1]
    return { [`Agent${formatSquare(square)}`]: `move(${box}, ${next ? `square${formatSquare(next)}` : target.name})` }
  })
}

/** Both ends and all squares between, in steps of 1. */
function listSteps(from: number, to: number): number[] {
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, k) => from + k * Math.sign(to - from))
}

function formatSquare([row, column]: [number, number]): string {
  return `[${row}, ${column}]`
}

const SCRAMBLE_MOVE_PATTERN = /^(\d*)([LRDUBF])(w?)('?)$/

/**
 * Undoes the scramble of a cube, in the notation of answers. Returns undefined if a move turns layers that the notation cannot name. It knows single outer layers (`R`) and the outer two
 * (`Rw`), so some cubes of size 6 and above have no solution in this notation.
 */
function invertScramble(scramble: string): string | undefined {
  const undone = scramble.split(' ').toReversed().map(invertMove)
  return undone.includes(undefined) ? undefined : undone.join(' ')
}

function invertMove(move: string): string | undefined {
  const [found, layer = '', face = '', wide = '', reversed = ''] = SCRAMBLE_MOVE_PATTERN.exec(move) ?? []
  const back = reversed ? '' : "'"
  const depth = layer === '' ? (wide ? 2 : 1) : Number(layer)
  if (found === undefined || depth > 2) return undefined
  if (depth === 1) return `${face}${back}`
  const both = `${face}w${back}`
  return wide ? both : `${both} ${face}${reversed ? "'" : ''}` // turns the second layer alone: both layers back, then the outer one forward
}

/** Boards to visit before the search gives up. Real puzzles need a few tens of thousands. */
const MAX_BOARDS = 200_000

/** Finds the shortest moves that bring car A to the exit by breadth-first search; undefined if none were found. */
function solveRushHour(board: string): string | undefined {
  const pieces = parsePieces(board)
  const walls = pieces.filter(({ length }) => length === 1)
  const cars = pieces.filter(({ length }) => length > 1)
  const start = cars.map(({ position }) => position).join()
  const seen = new Map<string, { before: string; move: string } | undefined>([[start, undefined]])
  for (const key of seen.keys()) {
    const places = key.split(',').map(Number)
    if (places[0] === EXIT_CELL) return tracePath(seen, key)
    if (seen.size > MAX_BOARDS) return undefined
    const placed = cars.map((car, k) => ({ ...car, position: places[k] ?? 0 }))
    const taken = new Set([...walls, ...placed].flatMap(listCells))
    for (const { move, after } of listMoves(placed, taken)) {
      const next = after.join()
      if (!seen.has(next)) seen.set(next, { before: key, move })
    }
  }
  return undefined
}

function* listMoves(cars: Piece[], taken: ReadonlySet<number>): Generator<{ move: string; after: number[] }> {
  const places = cars.map(({ position }) => position)
  for (const [k, { position, length, stride }] of cars.entries()) {
    const letter = String.fromCharCode(65 + k) // the scorer numbers the cars regardless of their labels
    for (const sign of [1, -1]) {
      const front = sign === 1 ? position + (length - 1) * stride : position
      for (let steps = 1; ; steps++) {
        const cell = front + sign * steps * stride
        if (!isInLine(front, cell, stride) || taken.has(cell)) break
        yield {
          move: `${letter}${sign === 1 ? '+' : '-'}${steps}`,
          after: places.with(k, position + sign * steps * stride),
        }
      }
    }
  }
}

function tracePath(seen: Map<string, { before: string; move: string } | undefined>, end: string): string {
  const moves: string[] = []
  for (let step = seen.get(end); step; step = seen.get(step.before)) moves.unshift(step.move)
  return moves.join(' ')
}
