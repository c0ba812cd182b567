/**
 * Second opinions on sentences of feedback: each checker works from the item's metadata or its right answer, which explainers never see, and finds
 * out in another way whether the sentence is true and whether it cites the first fault. Undefined: a sentence it does not know.
 */

import { runInNewContext } from 'node:vm'
import type { GeneratedItem } from '../../src/engine/engine.ts'
import { CONTENT_CHECKERS } from './feedback-content-checkers.ts'
import { MOVE_CHECKERS } from './feedback-move-checkers.ts'

// biome-ignore lint/suspicious/noExplicitAny: each task has its own
export type Metadata = Record<string, any>
export type Checker = (answer: string, metadata: Metadata, text: string, item: GeneratedItem) => boolean | undefined
export type Checkers = Record<string, Checker>

const groupsOf = (pattern: RegExp, text: string) => pattern.exec(text)?.slice(1)
const sorted = (text: string) => [...text.toLowerCase()].sort().join('')
const gridOf = (answer: string) =>
  answer
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
const digitsOf = (answer: string) =>
  answer
    .split('\n')
    .map((line) => line.match(/\d/g) ?? [])
    .filter((row) => row.length > 0)
const column = (grid: readonly (readonly string[])[], k: number) => grid.map((row) => row[k] ?? '')
const repeats = (line: readonly string[], value: string) => line.filter((cell) => cell === value).length > 1
const isDistinct = (line: readonly string[]) => new Set(line).size === line.length

const digitGrid: Checker = (answer, { puzzle }, text) => {
  const rows = digitsOf(answer)
  const [row, k, given, found] =
    groupsOf(/^Row (\d+), column (\d+) is given as (\d), but the answer has (\d)/, text) ?? []
  if (row !== undefined) {
    const [r, c] = [Number(row) - 1, Number(k) - 1]
    const changed = rows.flatMap((cells, i) =>
      cells.map((cell, j) => puzzle[i][j] !== 0 && String(puzzle[i][j]) !== cell),
    )
    return String(puzzle[r][c]) === given && rows[r]?.[c] === found && changed.indexOf(true) === r * rows.length + c
  }
  const [line, number, value = ''] = groupsOf(/^(Row|Column) (\d+) has (\d) more than once/, text) ?? []
  if (line === undefined) return undefined
  const lines = line === 'Row' ? rows : rows.map((_, j) => column(rows, j))
  const at = Number(number) - 1
  return (
    repeats(lines[at] ?? [], value) &&
    lines.slice(0, at).every(isDistinct) &&
    (line === 'Row' || rows.every(isDistinct))
  )
}

const arithmetic: Checker = (answer, { numbers, target = 24 }, text) => {
  const [worth] = groupsOf(/^The expression is worth (\S+), not/, text) ?? []
  const used = (answer.match(/\d+/g) ?? []).map(Number)
  if (worth !== undefined) {
    const [top = 0, bottom = 1] = worth.split('/').map(Number)
    const value = Number(runInNewContext(answer))
    return Math.abs(value - top / bottom) < 1e-6 * Math.max(1, Math.abs(value)) && Math.abs(value - target) > 1e-9
  }
  const [, number] = groupsOf(/^The expression (uses|does not use) (\d+)/, text) ?? []
  const times = (list: number[]) => list.filter((one) => one === Number(number)).length
  if (number === undefined) return undefined
  return text.includes('does not use') ? times(used) < times(numbers) : times(used) > times(numbers)
}

/** Plays moves and returns the number of the first one that is not possible, or 0. */
function playHanoi(answer: string, { num_disks, num_pegs, start_peg }: Metadata): number {
  const diskPegs = new Map<number, number>(Array.from({ length: num_disks }, (_, i) => [i + 1, start_peg]))
  return (
    1 +
    answer
      .trim()
      .split('\n')
      .findIndex((line) => {
        const [disk = 0, from = 0, to = 0] = (line.match(/\d+/g) ?? []).map(Number)
        const smaller = [...diskPegs].filter(([other]) => other < disk)
        if (diskPegs.get(disk) !== from || smaller.some(([, peg]) => peg === from || peg === to)) return true
        if (to < 1 || to > num_pegs) return true
        diskPegs.set(disk, to)
        return false
      })
  )
}

export const CHECKERS: Checkers = {
  ...CONTENT_CHECKERS,
  ...MOVE_CHECKERS,
  sudoku: digitGrid,
  mini_sudoku: digitGrid,
  futoshiki: digitGrid,
  countdown: arithmetic,
  puzzle24: arithmetic,
  kakurasu: (answer, { row_sums, col_sums }, text) => {
    const [line, number, is, must] = groupsOf(/^(Row|Column) (\d+) sums to (\d+), but it must sum to (\d+)/, text) ?? []
    if (line === undefined) return undefined
    const grid = gridOf(answer)
    const lines = line === 'Row' ? grid : col_sums.map((_: number, k: number) => column(grid, k))
    const weigh = (cells: string[]) => cells.reduce((sum, cell, k) => sum + (cell === '1' ? k + 1 : 0), 0)
    const sums = line === 'Row' ? row_sums : col_sums
    const at = Number(number) - 1
    const isRight = (cells: string[], k: number) => weigh(cells) === sums[k]
    return weigh(lines[at]) === Number(is) && sums[at] === Number(must) && lines.slice(0, at).every(isRight)
  },
  survo: (answer, { puzzle }, text) => {
    const [row, k, given, found] = (
      groupsOf(/^Row (\d+), column (\d+) is given as (-?\d+), but the answer has (-?\d+)/, text) ?? []
    ).map(Number)
    if (row === undefined || k === undefined) return undefined
    return puzzle[row - 1][k - 1] === given && Number(gridOf(answer)[row - 1]?.[k - 1]) === found && given !== found
  },
  n_queens: (answer, _metadata, text) => {
    const [a, b, c, d] = (groupsOf(/in row (\d+), column (\d+) and in row (\d+), column (\d+) attack/, text) ?? []).map(
      Number,
    )
    if (a === undefined || b === undefined || c === undefined || d === undefined) return undefined
    const grid = gridOf(answer)
    const stand = grid[a - 1]?.[b - 1] === 'Q' && grid[c - 1]?.[d - 1] === 'Q'
    return stand && (a === c || b === d || Math.abs(a - c) === Math.abs(b - d))
  },
  cryptarithm: (answer, { words_letters, result_letters }, text) => {
    const digits = new Map(answer.split(',').map((pair) => pair.split('=') as [string, string]))
    const value = (word: string) => Number([...word].map((letter) => digits.get(letter)).join(''))
    const [sum, , result] = groupsOf(/^With these digits the sum is (\d+), but ([A-Z]+) is (\d+)/, text) ?? []
    if (sum !== undefined) {
      const total = words_letters.reduce((s: number, word: string) => s + value(word), 0)
      return total === Number(sum) && value(result_letters) === Number(result) && sum !== result
    }
    const [a = '', b = '', digit] = groupsOf(/^([A-Z]) and ([A-Z]) have the same digit, (\d)/, text) ?? []
    return digit === undefined ? undefined : digits.get(a) === digit && digits.get(b) === digit && a !== b
  },
  tower_of_hanoi: (answer, metadata, text) => {
    const [move] = groupsOf(/^Move (\d+) \(.*is not possible/, text) ?? []
    if (move === undefined) return text.startsWith('At the end') ? playHanoi(answer, metadata) === 0 : undefined
    return playHanoi(answer, metadata) === Number(move)
  },
  word_ladder: (answer, _metadata, text) => {
    const [a, b] = groupsOf(/^`([A-Z]+)` and `([A-Z]+)` do not differ in exactly one letter/, text) ?? []
    if (a === undefined || b === undefined) return undefined
    const differing = [...a].filter((letter, i) => letter !== b[i]).length
    return answer.includes(`${a},${b}`) && differing !== 1
  },
  number_sorting: (answer, { direction }, text) => {
    const [a, b] = groupsOf(/^(\S+) before (\S+) is not in/, text) ?? []
    if (a === undefined || b === undefined) return undefined
    const items = answer.match(/-?\d[\d.]*/g) ?? []
    const at = items.findIndex((item, i) => item === a && items[i + 1] === b)
    return at >= 0 && (direction === 'ascending' ? Number(a) > Number(b) : Number(a) < Number(b))
  },
  number_filtering: (_answer, { original_numbers }, text) => {
    const [number, not, kind, limit] = groupsOf(/^(\S+) is (not )?(larger|smaller) than (\S+), so/, text) ?? []
    if (number === undefined || limit === undefined) return undefined
    const matches = kind === 'larger' ? Number(number) > Number(limit) : Number(number) < Number(limit)
    return matches === (not === undefined) && original_numbers.includes(number)
  },
  gcd: (answer, { numbers }, text) => {
    const [value, number] = groupsOf(/^(\d+) does not divide (\d+)/, text) ?? []
    if (value === undefined) return undefined
    return value === String(BigInt(answer)) && numbers.includes(Number(number)) && Number(number) % Number(value) !== 0
  },
  lcm: (_answer, { numbers }, text) => {
    const [value, number] = groupsOf(/^(\d+) is not a multiple of (\d+)/, text) ?? []
    return value === undefined ? undefined : numbers.includes(Number(number)) && Number(value) % Number(number) !== 0
  },
  prime_factorization: (answer, { number }, text) =>
    text.startsWith('The product')
      ? answer.split('×').reduce((product, factor) => product * Number(factor), 1) !== number
      : undefined,
  fraction_simplification: (answer, { numerator, denominator }, text) => {
    const [top, bottom, by] = groupsOf(/^(\d+)\/(\d+) can be reduced by (\d+)/, text) ?? []
    if (top !== undefined) return Number(top) % Number(by) === 0 && Number(bottom) % Number(by) === 0 && Number(by) > 1
    const [a = 0, b = 0] = (answer.match(/\d+/g) ?? []).map(Number)
    return text.includes('is not equal to') ? a * denominator !== b * numerator : undefined
  },
  graph_color: (answer, { puzzle }, text) => {
    const [u, v] = groupsOf(/^Vertices (\d+) and (\d+) are connected/, text) ?? []
    if (u === undefined || v === undefined) return undefined
    const colors = JSON.parse(answer) as Record<string, number>
    const clash = ({ $tuple: [a, b] }: { $tuple: [number, number] }) => colors[String(a)] === colors[String(b)]
    const first = puzzle.edges.find(clash)?.$tuple
    return String(first) === `${u},${v}`
  },
  letter_jumble: (answer, { scrambled_words }, text) => {
    const [word, wanted] = groupsOf(/^`(.+)` does not have the letters of `(.+)`/, text) ?? []
    if (word === undefined || wanted === undefined) return undefined
    const words = answer.split(/\s+/)
    const first = words.findIndex((one, i) => sorted(one) !== sorted(scrambled_words[i]))
    return words[first] === word && scrambled_words[first] === wanted
  },
  spell_backward: (answer, { word }, text) =>
    text.includes('does not have the letters') ? sorted(answer) !== sorted(word) : undefined,
  palindrome_generation: (answer, { letters }, text) =>
    text.startsWith('It does not read the same')
      ? answer !== [...answer].reverse().join('')
      : sorted(answer) !== sorted(letters.join('')),
  simple_equations: (answer, { equation, variable }, text) => {
    const [left = '', right = ''] = equation.split('=')
    const evaluate = (side: string) =>
      BigInt(runInNewContext(side.replaceAll(variable, `(${answer})`).replaceAll(/\d+/g, '$&n')))
    const [a, b] = groupsOf(/the left side is (-?\d+) and the right side is (-?\d+)/, text) ?? []
    return a === undefined ? undefined : evaluate(left) === BigInt(a) && evaluate(right) === BigInt(b ?? 0) && a !== b
  },
  knight_swap: (answer, { board, pieces, start_turn }, text) => {
    const [move] = groupsOf(/^Move (\d+) \(.*is not possible/, text) ?? []
    if (move === undefined) return undefined
    const at = { ...pieces }
    let turn = start_turn
    const first = (JSON.parse(answer) as string[]).findIndex((one) => {
      const [color = '', from = '', to = ''] = one.split(',')
      if (color !== turn || at[from] !== color || !(board[from] ?? []).includes(to) || at[to] !== null) return true
      at[to] = color
      at[from] = null
      turn = turn === 'w' ? 'B' : 'w'
      return false
    })
    return first + 1 === Number(move)
  },
  shortest_path: (answer, { matrix }, text) => {
    const [move] = groupsOf(/^Move (\d+) \(/, text) ?? []
    if (move === undefined) return undefined
    const steps: Record<string, [number, number]> = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] }
    let y = matrix.findIndex((row: string[]) => row.includes('*'))
    let x = matrix[y].indexOf('*')
    const first = answer.split(/\s+/).findIndex((word) => {
      const [dy, dx] = steps[word] ?? [0, 0]
      y += dy
      x += dx
      return (matrix[y]?.[x] ?? 'X') === 'X'
    })
    return first + 1 === Number(move)
  },
}
