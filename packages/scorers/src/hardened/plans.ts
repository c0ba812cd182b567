/** Plans and moves: only legal actions count, and only what is a plan is read as one. */
import { z } from 'zod'
import { applyTurn, type Cube, type CubeTurn, createSolvedCube, createTurn, listFaceStickers } from '../cube.ts'
import { countBoxes, removeItem } from '../puzzles.ts'
import { loads } from '../python/json.ts'
import { catchPythonError } from '../python/numbers.ts'
import { PY_S, splitWhitespace } from '../python/text.ts'
import { PyDict } from '../python/values.ts'
import type { DatasetEntry } from '../scorer.ts'
import { type HardenedScorer, scoreBestReading } from './hardened-scorer.ts'
import { creditPastHalf, MAX_PARTIAL_CREDIT } from './partial-credit.ts'

interface Field {
  /** What each square holds. */
  squares: Map<string, string[]>
  /** For each box color the move that would undo its last one. */
  undoing: Map<string, string>
}

/** As the prompt's own example has it. */
const FENCE_PATTERN = /^```(?:json)?\s([^`]*)```$/
/** Python and JavaScript keep the last of two equal keys: only the text shows that an agent acts twice. */
const JSON_KEY_PATTERN = /"\s*:/g
export const AGENT_PATTERN = /^Agent\[(\d+(?:\.\d+)?), ?(\d+(?:\.\d+)?)\]$/
export const DELIVERY_PATTERN = /^move\(box_(\w+), ?target_(\w+)\)$/
export const SHIFT_PATTERN = /^move\((box_\w+), ?square\[(\d+(?:\.\d+)?), ?(\d+(?:\.\d+)?)\]\)$/

/** The share of boxes delivered up to the first action that is not legal, and less than 1 where there is one. */
export const boxnet: HardenedScorer = ({ entry }) => {
  const { initial_state: start } = z
    .looseObject({ initial_state: z.record(z.string(), z.array(z.string())) })
    .parse(entry.metadata)
  const boxes = countBoxes(Object.values(start))
  return scoreBestReading((reading) => {
    const text = FENCE_PATTERN.exec(reading)?.[1] ?? reading
    const plan = catchPythonError(() => loads(text), null)
    if (!Array.isArray(plan) || boxes === 0) return 0
    const field: Field = {
      squares: new Map(Object.entries(start).map(([square, items]) => [square, [...items]])),
      undoing: new Map(),
    }
    const keys = plan.reduce((sum: number, step) => sum + (step instanceof PyDict ? step.entries().length : 0), 0)
    const isLegal = plan.every((step) => applyStep(field, step)) && text.match(JSON_KEY_PATTERN)?.length === keys
    return Math.min(isLegal ? 1 : MAX_PARTIAL_CREDIT, (boxes - countBoxes(field.squares.values())) / boxes)
  })
}

/** All agents act at once: a box is in its new square after the step. False from the first action that is not legal. */
function applyStep(field: Field, step: unknown): boolean {
  if (!(step instanceof PyDict)) return false
  const agents = new Set<string>()
  const shifts: BoxShift[] = []
  const isLegal = step.entries().every(([who, what]) => {
    const [, x = '', y = ''] = AGENT_PATTERN.exec(typeof who === 'string' ? who : '') ?? []
    const agent = formatSquareKey(x, y)
    if (agents.has(agent) || typeof what !== 'string') return false
    agents.add(agent)
    return deliverBox(field, agent, what) || takeBox(field, [Number(x), Number(y)], what, shifts)
  })
  for (const { box, from, to } of shifts) {
    field.squares.get(to)?.push(box)
    field.undoing.set(box, `${to} ${from}`)
  }
  return isLegal
}

function deliverBox({ squares, undoing }: Field, square: string, action: string): boolean {
  const [, color = '', target] = DELIVERY_PATTERN.exec(action) ?? []
  const [box, here] = [`box_${color}`, squares.get(square) ?? []]
  if (color !== target || !here.includes(`target_${color}`) || !removeItem(here, box)) return false
  undoing.delete(box)
  return removeItem(here, `target_${color}`)
}

interface BoxShift {
  box: string
  from: string
  to: string
}

/** No box goes back at once: a plan is to need few moves, and to match a box that it can match. */
function takeBox({ squares, undoing }: Field, [x, y]: [number, number], action: string, shifts: BoxShift[]): boolean {
  const [, box = '', toX = '', toY = ''] = SHIFT_PATTERN.exec(action) ?? []
  const [from, to] = [formatSquareKey(x, y), formatSquareKey(toX, toY)]
  const steps = Math.abs(x - Number(toX)) + Math.abs(y - Number(toY))
  if (steps !== 1 || !squares.has(to) || undoing.get(box) === `${from} ${to}`) return false
  if (!removeItem(squares.get(from) ?? [], box)) return false
  shifts.push({ box, from, to })
  return true
}

/** The library's name of a square: `0.5_1.5`. */
function formatSquareKey(...place: readonly (string | number)[]): string {
  return place.map((at) => (Number.isInteger(Number(at)) ? Number(at).toFixed(1) : String(Number(at)))).join('_')
}

const OTHER_LETTERS_PATTERN = /[D-Zd-z]/
const ARROWS_PATTERN = /\\(?:rightarrow|to)/g

/** A sequence of buttons and nothing else: the library reads every a, b and c of a sentence as a button. */
export const quantumLock: HardenedScorer = ({ upstream }) => {
  return scoreBestReading((reading) => {
    const presses = reading.replaceAll(ARROWS_PATTERN, '→')
    return OTHER_LETTERS_PATTERN.test(presses) ? 0 : upstream(presses)
  })
}

const Scramble = z.looseObject({ cube_size: z.int().min(2).max(7), scramble_moves: z.string() })
/** More turns than any honest solution needs. */
const MAX_MOVES = 1000
const MOVE_PATTERN = /^(?:(\d?)([LRDUBF])(w?)|()([XYZMES])())('?)([1-3]?)$/
const COMBINED_PATTERN = new RegExp(`\\d(?:,|${PY_S}|$)`)

/**
 * 1 where single quarter turns solve the cube; else the partial credit that the library means to give and never does: the
 * share of displaced stickers that came home, from half of them on. The library passes over turns such as `2R`.
 */
export const rubiksCube: HardenedScorer = ({ entry }) => {
  const { size, turns } = readScramble(entry)
  const displaced = countMisplacedStickers(applyTurns(size, turns))
  return scoreBestReading((reading) => {
    const more = parseTurns(reading, size)
    if (more === undefined) return 0
    const left = countMisplacedStickers(applyTurns(size, [...turns, ...more]))
    return left === 0 && !COMBINED_PATTERN.test(reading) ? 1 : creditPastHalf(displaced - left, displaced)
  })
}

/** Whether the scramble leaves anything to solve. */
export function isScrambled(entry: DatasetEntry): boolean {
  const { size, turns } = readScramble(entry)
  return countMisplacedStickers(applyTurns(size, turns)) > 0
}

function readScramble({ metadata }: DatasetEntry): { size: number; turns: CubeTurn[] } {
  const { cube_size: size, scramble_moves: scramble } = Scramble.parse(metadata)
  const turns = parseTurns(scramble, size)
  if (turns === undefined) throw new Error(`no scramble: ${scramble}`)
  return { size, turns }
}

function applyTurns(size: number, turns: readonly CubeTurn[]): Cube {
  const cube = createSolvedCube(size)
  for (const one of turns) applyTurn(cube, one)
  return cube
}

/** Undefined where a word is no move of such a cube, or where there are too many. */
function parseTurns(text: string, size: number): CubeTurn[] | undefined {
  const turns: CubeTurn[] = []
  const words = splitWhitespace(text.replaceAll(',', ' ').replaceAll('′', "'"))
  if (words.length > MAX_MOVES) return undefined
  for (const word of words) {
    const [found, ...parts] = MOVE_PATTERN.exec(word) ?? []
    const turn = createTurn(parts.filter((part) => part !== undefined))
    const isMissing = turn.depth === 0 || turn.depth > size || ('MES'.includes(turn.face) && size % 2 === 0)
    if (found === undefined || isMissing) return undefined
    turns.push(turn)
  }
  return turns
}

const facesCache = new Map<number, number[][]>()

/** Stickers of another color than the middle of their face. */
function countMisplacedStickers({ size, colors }: Cube): number {
  const faces = facesCache.get(size) ?? listFaceStickers(size)
  facesCache.set(size, faces)
  return faces.reduce((sum, stickers) => {
    const middle = colors[stickers[(size >> 1) * size + (size >> 1)] ?? 0]
    return sum + stickers.filter((sticker) => colors[sticker] !== middle).length
  }, 0)
}
