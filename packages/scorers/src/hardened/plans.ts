/** Plans and moves: only legal actions count, and only what is a plan is read as one. */
import { z } from 'zod'
import { applyTurn, type Cube, type CubeTurn, createSolvedCube, createTurn, listFaceStickers } from '../cube.ts'
import { countBoxes, removeItem } from '../puzzles.ts'
import { loads } from '../python/json.ts'
import { catchPythonError } from '../python/numbers.ts'
import { splitWhitespace } from '../python/text.ts'
import { PyDict } from '../python/values.ts'
import { type HardenedScorer, isFullScore, scoreBestReading } from './hardened-scorer.ts'
import { creditPastHalf } from './partial-credit.ts'

type SquareContents = Map<string, string[]>

const AGENT_PATTERN = /^Agent\[(\d+(?:\.\d+)?), ?(\d+(?:\.\d+)?)\]$/
const DELIVERY_PATTERN = /^move\(box_(\w+), ?target_(\w+)\)$/
const SHIFT_PATTERN = /^move\((box_\w+), ?square\[(\d+(?:\.\d+)?), ?(\d+(?:\.\d+)?)\]\)$/

/** The share of boxes delivered up to the first action that is not legal: a plan for every board fails early. */
export const boxnet: HardenedScorer = ({ entry }) => {
  const { initial_state: start } = z
    .looseObject({ initial_state: z.record(z.string(), z.array(z.string())) })
    .parse(entry.metadata)
  const boxes = countBoxes(Object.values(start))
  return scoreBestReading((reading) => {
    const plan = catchPythonError(() => loads(reading), null)
    if (!Array.isArray(plan) || boxes === 0) return 0
    const squares: SquareContents = new Map(Object.entries(start).map(([square, items]) => [square, [...items]]))
    const actions = plan.flatMap((step): [unknown, unknown][] =>
      step instanceof PyDict ? step.entries() : [[null, null]],
    )
    for (const [who, what] of actions) if (!applyAction(squares, who, what)) break
    return (boxes - countBoxes(squares.values())) / boxes
  })
}

/** False where the action is not legal, and nothing is done. */
function applyAction(squares: SquareContents, who: unknown, what: unknown): boolean {
  if (typeof who !== 'string' || typeof what !== 'string') return false
  const [, x = '', y = ''] = AGENT_PATTERN.exec(who) ?? []
  const here = squares.get(formatSquareKey(x, y))
  if (here === undefined) return false
  const [, box, target] = DELIVERY_PATTERN.exec(what) ?? []
  if (box !== undefined) return box === target && here.includes(`target_${box}`) && deliverBox(here, box)
  const [, item = '', toX = '', toY = ''] = SHIFT_PATTERN.exec(what) ?? []
  const there = squares.get(formatSquareKey(toX, toY))
  const steps = Math.abs(Number(x) - Number(toX)) + Math.abs(Number(y) - Number(toY))
  if (there === undefined || steps !== 1 || !removeItem(here, item)) return false
  there.push(item)
  return true
}

/** The library's name of a square: `0.5_1.5`. */
function formatSquareKey(x: string, y: string): string {
  return [x, y].map((at) => (Number.isInteger(Number(at)) ? Number(at).toFixed(1) : String(Number(at)))).join('_')
}

function deliverBox(items: string[], color: string): boolean {
  return removeItem(items, `box_${color}`) && removeItem(items, `target_${color}`)
}

const OTHER_LETTERS_PATTERN = /[D-Zd-z]/
const ARROWS_PATTERN = /\\(?:rightarrow|to)/g

/** A sequence of buttons and nothing else: the library reads every a, b and c of a sentence as a button. */
export const hardenedQuantumLock: HardenedScorer = ({ upstream }) => {
  return scoreBestReading((reading) => {
    const presses = reading.replaceAll(ARROWS_PATTERN, '→')
    return OTHER_LETTERS_PATTERN.test(presses) ? 0 : upstream(presses)
  })
}

const Scramble = z.looseObject({ cube_size: z.int().min(2).max(7), scramble_moves: z.string() })
/** More turns than any honest partial solution needs. */
const MAX_MOVES = 1000
const MOVE_PATTERN = /^(\d?)([LRDUBFXYZMES])(w?)('?)([1-3]?)$/

/** The partial credit that the library means to give and never does: the share of displaced stickers that came home, from half of them on. */
export const hardenedRubiksCube: HardenedScorer = ({ entry, upstream }) => {
  const { cube_size: size, scramble_moves: scramble } = Scramble.parse(entry.metadata)
  const turns = parseTurns(scramble, size)
  if (turns === undefined) throw new Error(`no scramble: ${scramble}`)
  const displaced = countMisplacedStickers(applyTurns(size, turns))
  return scoreBestReading((reading) => {
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
    const [found, ...parts] = MOVE_PATTERN.exec(word) ?? []
    const turn = createTurn(parts)
    const isMissing = turn.depth === 0 || turn.depth > size || ('MES'.includes(turn.face) && size % 2 === 0)
    if (found === undefined || isMissing) return undefined
    turns.push(turn)
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
