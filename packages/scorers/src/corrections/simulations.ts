/** Corrections of tasks whose state changes step by step: they play the steps, where the key goes by less. */
import { z } from 'zod'
import { type DatasetEntry, requireOracleAnswer } from '../scorer.ts'
import type { Correction } from './correction.ts'

const SIDES = ['top', 'right', 'front', 'left', 'back', 'bottom'] as const
const Cube = z.looseObject({ rotations: z.array(z.enum(SIDES)), target_side: z.enum(SIDES) })

/** By the side that comes to the top: for each side, the number of the one that is there afterward. */
const TURNS: Readonly<Record<(typeof SIDES)[number], readonly (readonly number[])[]>> = {
  top: [[0, 1, 2, 3, 4, 5]],
  right: [[1, 5, 2, 0, 4, 3]],
  front: [[2, 1, 5, 3, 0, 4]],
  left: [[3, 0, 2, 5, 4, 1]],
  back: [[4, 1, 0, 3, 5, 2]],
  bottom: [
    [5, 1, 4, 3, 2, 0],
    [5, 3, 2, 1, 4, 0],
  ],
}

/** Whether the ways of the half turns lead to different colors. */
function hasReadings({ metadata }: DatasetEntry): boolean {
  const { rotations, target_side } = Cube.parse(metadata)
  let cubes = ['012345']
  for (const side of rotations) {
    const turned = TURNS[side].flatMap((turn) => cubes.map((cube) => apply(turn, cube)))
    cubes = turned.length > 1 ? [...new Set(turned)] : turned
  }
  const asked = SIDES.indexOf(target_side)
  return cubes.some((cube) => cube[asked] !== cubes[0]?.[asked])
}

function apply([a = 0, b = 0, c = 0, d = 0, e = 0, f = 0]: readonly number[], cube: string): string {
  return `${cube[a]}${cube[b]}${cube[c]}${cube[d]}${cube[e]}${cube[f]}`
}

export const colorCubeRotation: Correction = {
  reason:
    'A cube whose bottom is brought to the top may turn over its front or over its right: the key takes the front.',
  clarification: (entry) =>
    hasReadings(entry)
      ? 'Note: when the bottom side is brought to the top, the front and back sides change places, ' +
        'and the left and right sides stay.'
      : undefined,
}

const Color = z.enum(['red', 'green'])
const Lock = z.looseObject({
  initial_value: z.int(),
  initial_state: Color,
  target_value: z.int(),
  buttons: z.array(
    z.looseObject({
      type: z.enum(['add', 'subtract', 'multiply']),
      value: z.int(),
      active_state: z.enum(['any', ...Color.options]),
    }),
  ),
})
type Button = z.infer<typeof Lock>['buttons'][number]

export const quantumLock: Correction = {
  reason:
    'The question says that each press toggles the light, which the library does only where the button matches it; ' +
    'and digits in an answer are not read.',
  decide: () => (answer) => (/\d/.test(answer) ? false : undefined),
  clarification: (entry) =>
    canPressIdly(entry)
      ? 'Note: a button marked with a color can only be pressed while the light has that color.'
      : undefined,
}

interface State {
  value: number
  isRed: boolean
  /** Whether a button was pressed that did not match the light. */
  isIdle: boolean
}

/** Whether as many presses as the key has, or fewer, reach the target if some of them only toggle the light. */
function canPressIdly(entry: DatasetEntry): boolean {
  const { initial_value: value, initial_state: color, target_value: target, buttons } = Lock.parse(entry.metadata)
  const step = Math.max(...buttons.map((button) => button.value))
  const seen = new Set<string>()
  let front: State[] = [{ value, isRed: color === 'red', isIdle: false }]
  for (let left = requireOracleAnswer(entry).split(' → ').length - 1; left >= 0; left--) {
    const tooFar = Math.abs(target) + step * left // no factor shrinks a value, so it cannot come back
    const next = front.flatMap((state) => buttons.map((button) => press(state, button)))
    front = []
    for (const state of next) {
      if (state.isIdle && state.value === target) return true
      const name = `${state.value} ${state.isRed} ${state.isIdle}`
      if (Math.abs(state.value) > tooFar || seen.has(name)) continue
      seen.add(name)
      front.push(state)
    }
  }
  return false
}

function press({ value, isRed, isIdle }: State, button: Button): State {
  const doesMatch = button.active_state === 'any' || (button.active_state === 'red') === isRed
  return { value: doesMatch ? operate(value, button) : value, isRed: !isRed, isIdle: isIdle || !doesMatch }
}

function operate(value: number, { type, value: by }: Button): number {
  if (type === 'multiply') return value * by
  return type === 'add' ? value + by : value - by
}

const Life = z.looseObject({ grid_size_y: z.int().min(1), simulation_steps: z.int() })
/** Boards that neither die nor repeat so long are left to the library. */
const MAX_STEPS = 1000

/** Undefined where the board cannot be read or lives on for too long without repeating itself. */
function diesOut({ question, metadata }: DatasetEntry): boolean | undefined {
  const { grid_size_y: width, simulation_steps: steps } = Life.parse(metadata)
  if (isCut(question)) return undefined
  let cells = Uint8Array.from((question.split('Initial board:\n')[1] ?? '').match(/[01]/g) ?? [], Number)
  let [seen, seenAt] = [cells, 0]
  for (let k = 0; k <= Math.min(steps, MAX_STEPS); k++) {
    if (!cells.includes(1)) return true
    if (k > 0 && cells.every((cell, i) => cell === seen[i])) return false
    if (k >= 2 * seenAt) [seen, seenAt] = [cells, k]
    cells = nextGeneration(cells, width)
  }
  return steps <= MAX_STEPS ? false : undefined
}

/** One generation on a torus: each living cell counts for the nine cells round it. */
function nextGeneration(cells: Uint8Array, width: number): Uint8Array<ArrayBuffer> {
  const [size, sums] = [cells.length, new Uint8Array(cells.length)]
  for (let i = cells.indexOf(1); i >= 0; i = cells.indexOf(1, i + 1)) {
    const column = i % width
    for (const beside of [i, i - column + ((column + 1) % width), i - column + ((column + width - 1) % width)]) {
      for (const near of [beside, (beside + width) % size, (beside + size - width) % size])
        sums[near] = (sums[near] ?? 0) + 1
    }
  }
  return sums.map((sum, i) => (sum === 3 || (sum === 4 && cells[i] === 1) ? 1 : 0))
}

/** numpy writes boards of more than 1,000 cells with dots for what is in the middle. */
function isCut(question: string): boolean {
  return question.includes('...')
}

export const gameOfLifeHalting: Correction = {
  reason:
    'The key goes by the kind of the patterns: it is wrong for fewer than three steps and for an empty board. ' +
    'A board of more than 1,000 cells is not shown whole.',
  keys: ({ entry }) => {
    const dies = diesOut(entry)
    return dies === undefined ? undefined : [dies ? 'True' : 'False']
  },
  hasRightAnswer: ({ question }) => !isCut(question),
}

const Game = z.looseObject({
  rounds: z.array(z.looseObject({ add: z.string(), remove: z.string(), cards: z.string() })),
})

const RUNS = [
  [-2, -1],
  [-1, 1],
  [1, 2],
] as const

export const mahjongPuzzle: Correction = {
  reason: '“Pass” is said without a look at the card, “Chi” before “Peng”; equal cards hide a sequence.',
  keys({ entry }) {
    const last = Game.parse(entry.metadata).rounds.at(-1)
    if (last === undefined) return undefined
    // The cards after a round end with the new one.
    return [judgeCard(last.cards.slice(0, -1) + last.remove, last.add)]
  },
}

function judgeCard(hand: string, card: string): string {
  if (hand.split(card).length > 2) return 'Peng'
  const place = card.charCodeAt(0)
  const isRun = RUNS.some((steps) => steps.every((step) => hand.includes(String.fromCharCode(place + step))))
  return isRun ? 'Chi' : 'Pass'
}
