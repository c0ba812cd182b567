/** Rules that play the moves of an answer and look at where they end. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { catchPythonError, parseInteger } from './python/numbers.ts'
import { codePointLength, codePoints, PY_D, splitlines, splitWhitespace, strip, upper } from './python/text.ts'
import { defineScorer, requireOracleAnswer } from './scorer.ts'
import { countMatches } from './texts.ts'

const Button = z.looseObject({
  name: z.string(),
  type: z.enum(['add', 'subtract', 'multiply']),
  value: z.int().min(1),
  active_state: z.string(),
})
const Lock = z.looseObject({
  initial_value: z.int(),
  initial_state: z.string(),
  target_value: z.int(),
  buttons: z.array(Button),
})
type Lock = z.infer<typeof Lock>

/** Presses the buttons; 0.5 where the target takes more or fewer presses than it needs. Rule of `reasoning_gym/graphs/quantum_lock.py`. */
export const quantumLock = defineScorer({
  metadata: Lock,
  score(answer, entry) {
    const [given, wanted] = [parsePresses(answer), parsePresses(requireOracleAnswer(entry))]
    if (given.join() === wanted.join()) return 1
    if (pressButtons(entry.metadata, given) !== entry.metadata.target_value) return 0
    return given.length === wanted.length ? 1 : 0.5
  },
})

function parsePresses(text: string): string[] {
  return upper(text).match(/[A-C]/g) ?? []
}

/** The value at the end; NaN for one so far off that the presses left cannot bring it back, since no factor shrinks it. */
function pressButtons(lock: Lock, presses: readonly string[]): number {
  const buttons = new Map(lock.buttons.map((button) => [button.name, button]))
  const step = Math.max(...lock.buttons.map((button) => button.value))
  const tooFar = Math.abs(lock.target_value) + step * presses.length
  let value = lock.initial_value
  let color = lock.initial_state
  for (const name of presses) {
    const button = buttons.get(name)
    if (button === undefined || ![color, 'any'].includes(button.active_state)) continue
    if (button.type === 'add') value += button.value
    else if (button.type === 'subtract') value -= button.value
    else value *= button.value
    color = color === 'red' ? 'green' : 'red'
    if (Math.abs(value) > tooFar) return Number.NaN
  }
  return value
}

const BOARD_SIZE = 6
/** Where the red car has to be. */
export const EXIT_CELL = 2 * BOARD_SIZE + BOARD_SIZE - 2
const MOVE_PATTERN = new RegExp(`([A-Z])([+\\-])(${PY_D}+)`, 'gv')

/** A car, or a wall as a piece of length 1. */
export interface Piece {
  position: number
  readonly length: number
  readonly stride: number
}

/** Moves the cars; 0.01 where the red one is not at the exit. Rule of `reasoning_gym/games/rush_hour.py`. */
export const rushHour = defineScorer({
  metadata: z.looseObject({ board_config: z.string().length(BOARD_SIZE * BOARD_SIZE) }),
  score(answer, { metadata }) {
    const moves = parseMoves(answer)
    if (answer === '' || moves === undefined) return 0
    const pieces = parsePieces(metadata.board_config)
    const taken = new Set(pieces.flatMap(listCells))
    for (const [letter, steps] of moves) {
      const index = letter.charCodeAt(0) - 65
      // The library looks one piece too far: the letter just behind the last one is an error, any later one is nothing.
      if (index === pieces.length) return 0
      const piece = pieces[index]
      if (piece !== undefined) slidePiece(piece, steps, taken)
    }
    return pieces[0]?.position === EXIT_CELL ? 1 : 0.01
  },
})

/** Cars in the order of their letters, then walls. */
export function parsePieces(board: string): Piece[] {
  const labels = [...new Set(board)].filter((label) => label !== 'o' && label !== 'x').toSorted()
  const cars = labels.map((label): Piece => {
    const cells = [...board.matchAll(RegExp(label, 'g'))].map(({ index }) => index)
    const [first = 0, second = 0] = cells
    return { position: first, length: cells.length, stride: second - first }
  })
  const walls = [...board.matchAll(/x/g)].map(({ index }): Piece => ({ position: index, length: 1, stride: 1 }))
  return [...cars, ...walls]
}

export function listCells({ position, length, stride }: Piece): number[] {
  return Array.from({ length }, (_, i) => position + i * stride)
}

/** Undefined where a count has more digits than Python reads. */
function parseMoves(answer: string): [string, number][] | undefined {
  const parse = ([, letter = '', sign, count = '']: RegExpExecArray): [string, number] => {
    const steps = Number(parseInteger(count))
    return [letter, sign === '+' ? steps : -steps]
  }
  return catchPythonError(() => Array.from(answer.matchAll(MOVE_PATTERN), parse), undefined)
}

/** Whether a cell is on the board, in the row or column of another. */
export function isInLine(cell: number, next: number, stride: number): boolean {
  return stride === 1
    ? Math.floor(next / BOARD_SIZE) === Math.floor(cell / BOARD_SIZE)
    : next >= 0 && next < BOARD_SIZE * BOARD_SIZE
}

/** How many of the steps the piece goes until something is in the way: a huge count costs no more than five. */
export function slidePiece(piece: Piece, steps: number, taken: Set<number>): number {
  if (piece.length === 1) return 0
  const forward = steps > 0
  for (let done = 0; done < Math.abs(steps); done++) {
    const front = piece.position + (forward ? (piece.length - 1) * piece.stride : 0)
    const next = front + (forward ? piece.stride : -piece.stride)
    if (!isInLine(front, next, piece.stride) || taken.has(next)) return done
    taken.add(next)
    taken.delete(forward ? piece.position : piece.position + (piece.length - 1) * piece.stride)
    piece.position += forward ? piece.stride : -piece.stride
  }
  return Math.abs(steps)
}

const MazeMatrix = z.array(z.array(z.string()))
export const DIRECTIONS = new Map<string, readonly [number, number]>([
  ['right', [0, 1]],
  ['down', [1, 0]],
  ['left', [0, -1]],
  ['up', [-1, 0]],
])

/** Walks the path; 0.5 where it arrives by more steps than it needs. Rule of `reasoning_gym/graphs/shortest_path.py`. */
export const shortestPath = defineScorer({
  metadata: z.looseObject({ matrix: MazeMatrix }),
  score(answer, entry) {
    const wanted = strip(requireOracleAnswer(entry))
    if (answer === '') return 0
    if (strip(answer) === wanted) return 1
    const path = splitWhitespace(answer)
    if (!reachesDestination(entry.metadata.matrix, path)) return 0
    return path.length === splitWhitespace(wanted).length ? 1 : 0.5
  },
})

function reachesDestination(matrix: z.infer<typeof MazeMatrix>, path: readonly string[]): boolean {
  let row = matrix.findIndex((cells) => cells.includes('*'))
  let column = matrix[row]?.indexOf('*') ?? -1
  for (const name of path) {
    const direction = DIRECTIONS.get(name)
    if (direction === undefined) return false
    row += direction[0]
    column += direction[1]
    if ((matrix[row]?.[column] ?? 'X') === 'X') return false
  }
  return matrix[row]?.[column] === '#'
}

const CELL_AFTER_LEAVING: Readonly<Record<string, string>> = { '%': 'X', $: 'X', '*': '-', '@': '-' }

/** Pushes the boxes; 1 where none is off its goal at the end. Rule of `reasoning_gym/games/sokoban.py`. */
export const sokoban = defineScorer({
  metadata: z.looseObject({ gamestr: z.string() }),
  score(answer, { metadata }) {
    const rows = strip(metadata.gamestr.replaceAll(' ', '')).split('\n')
    const width = (rows[0] ?? '').length
    const cells = rows.flatMap((row) => Array.from(row))
    const steps = new Map(Object.entries({ R: 1, L: -1, U: -width, D: width }))
    // Walls stand all around the board, so no step leaves it.
    let player = cells.findIndex((cell) => cell === '*' || cell === '%')
    if (player < 0) return 0
    for (const ch of answer) {
      const step = steps.get(ch)
      if (step !== undefined && movePlayer(cells, player, step)) player += step
    }
    return cells.includes('@') ? 0 : 1
  },
})

/** Moves the player, and the box in front of it, where the way is free. */
export function movePlayer(cells: string[], player: number, step: number): boolean {
  const [here = '+', next = '+', beyond = '+'] = [player, player + step, player + 2 * step].map((i) => cells[i])
  const isBox = next === '@' || next === '$'
  if (next === '+' || (isBox && '+@$'.includes(beyond))) return false
  if (isBox) cells[player + 2 * step] = beyond === 'X' ? '$' : '@'
  cells[player + step] = next === 'X' || next === '$' ? '%' : '*'
  cells[player] = CELL_AFTER_LEAVING[here] ?? '-'
  return true
}

const INSTRUCTION_PATTERN = new RegExp(`Move disk (${PY_D}+) from Peg (${PY_D}+) to Peg (${PY_D}+)`, 'v')

/** Moves the disks; fewer points for more moves, 0.05 where they do not end on the target. Rule of `reasoning_gym/games/tower_of_hanoi.py`. */
export const towerOfHanoi = defineScorer({
  metadata: z.looseObject({
    num_disks: z.int(),
    num_pegs: z.int(),
    start_peg: z.int(),
    target_peg: z.int(),
    solution_length: z.int(),
  }),
  score(answer, { metadata }) {
    if (answer === '') return 0
    const lines = splitlines(strip(answer)).map((line) => strip(line))
    const moves = lines.filter((line) => line !== '')
    const pegs = new Map<number, number[]>()
    for (let peg = 1; peg <= metadata.num_pegs; peg++) pegs.set(peg, [])
    pegs.set(
      metadata.start_peg,
      Array.from({ length: metadata.num_disks }, (_, i) => metadata.num_disks - i),
    )
    for (const line of moves) if (!applyMove(pegs, line)) return 0
    // No rule lets a larger disk onto a smaller one: all of them are in order.
    if (pegs.get(metadata.target_peg)?.length !== metadata.num_disks) return 0.05
    return Math.min(1, metadata.solution_length / moves.length)
  },
})

/** Judges the third, sixth and ninth word, but moves by the pattern: they differ in `Peg 1_0`. */
function applyMove(pegs: Map<number, number[]>, line: string): boolean {
  const words = splitWhitespace(line)
  const found = INSTRUCTION_PATTERN.exec(line)
  if (found === null || words.length !== 9) return false
  const [disk, from, to] = [words[2], words[5], words[8]].map(parseNumber)
  const [source, target] = [pegs.get(from ?? -1), pegs.get(to ?? -1)]
  if (source === undefined || target === undefined || disk === undefined || source.at(-1) !== disk) return false
  if (disk > (target.at(-1) ?? disk)) return false
  const [moved, off, onto] = found.slice(1).map(parseNumber)
  pegs.get(off ?? -1)?.pop()
  pegs.get(onto ?? -1)?.push(moved ?? -1)
  return true
}

export const DISK_MOVE_PATTERN = /^Move disk (\d{1,9}) from Peg (\d{1,9}) to Peg (\d{1,9})$/

/** The disks of each peg, the largest first. There is no peg 0. */
export function createPegs(count: number, disks: number, start: number): number[][] {
  const tower = Array.from({ length: disks }, (_, i) => disks - i)
  return Array.from({ length: count + 1 }, (_, peg) => (peg === start ? tower : []))
}

/** Moves a disk; says why, if it cannot be moved. */
export function moveDisk(pegs: readonly number[][], disk: number, from: number, to: number): string | undefined {
  const [source, target] = [pegs[from], pegs[to]]
  if (from === 0 || source === undefined) return `there is no peg ${from}`
  if (to === 0 || target === undefined) return `there is no peg ${to}`
  const top = source.at(-1)
  if (top !== disk) return top === undefined ? `peg ${from} is empty` : `disk ${top} is on top of peg ${from}`
  const below = target.at(-1)
  if (below !== undefined && below < disk) return `disk ${disk} cannot be on the smaller disk ${below}`
  source.pop()
  target.push(disk)
  return undefined
}

function parseNumber(word: string | undefined = ''): number | undefined {
  if (/^[0-9]{1,9}$/.test(word)) return Number(word)
  return catchPythonError(() => Number(parseInteger(word)), undefined)
}

/** Changes one letter at a time from start to end; half for each word that the library does not know. Rule of `reasoning_gym/algorithmic/word_ladder.py`. */
export const wordLadder = defineScorer({
  metadata: z.looseObject({ start_word: z.string(), end_word: z.string() }),
  score(answer, { metadata: { start_word: start, end_word: end } }) {
    const parts = upper(answer).split(',')
    const words = parts.map((part) => strip(part))
    if (words.length < 2 || words[0] !== start || words.at(-1) !== end) return 0
    if (words.some((word) => codePointLength(word) !== codePointLength(end))) return 0
    if (words.some((word, i) => i > 0 && countChangedLetters(words[i - 1] ?? '', word) !== 1)) return 0
    const known = getLadderWords(codePointLength(end))
    return 0.5 ** words.filter((word) => !known.has(word)).length
  },
})

export function countChangedLetters(from: string, to: string): number {
  const letters = codePoints(to)
  return letters.length - countMatches(letters, codePoints(from))
}

const wordSetsByLength = new Map<number, ReadonlySet<string>>()

/**
 * The words that word_ladder knows, by their length, from a file that `scripts/word-ladder-words.py` writes. Read at the first
 * call; words of one length stand in one string without a sign between them.
 */
export function getLadderWords(length: number): ReadonlySet<string> {
  if (wordSetsByLength.size === 0) {
    const url = new URL('./data/word-ladder-words.json', import.meta.url)
    const joined = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(url, 'utf8')))
    for (const [size, words] of Object.entries(joined)) {
      wordSetsByLength.set(Number(size), new Set(words.match(new RegExp(`.{${Number(size)}}`, 'g'))))
    }
  }
  return wordSetsByLength.get(length) ?? new Set()
}
