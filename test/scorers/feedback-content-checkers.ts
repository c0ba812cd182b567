/** Second opinions on sentences about numbers, words and cells: whether an answer has what the question gives, and keeps its limits. */
import type { Checker, Checkers, Metadata } from './feedback-checkers.ts'

const groupsOf = (pattern: RegExp, text: string) => pattern.exec(text)?.slice(1)
const countOf = (list: readonly string[], part: string) => list.filter((one) => one === part).length
const cells = (matrix: readonly (readonly number[])[]) => matrix.flat().map(String)
const bySpaces = (answer: string) => answer.trim().split(/\s+/)
const byCommas = (answer: string) => answer.split(',').map((part) => part.trim())

/** “The word `x` is not in …”, “is used more often than …”, “is not used as often as …”. */
function parts(
  wantedOf: (metadata: Metadata, right: string) => string[],
  split: (answer: string) => string[],
): Checker {
  return (answer, metadata, text, { entry }) => {
    const [part, fault] = groupsOf(/^The \w+ `(.*)` is (not in|used more|not used as) /, text) ?? []
    if (part === undefined) return undefined
    const [wanted, given] = [wantedOf(metadata, entry.answer ?? ''), split(answer)]
    const [has, needs] = [countOf(given, part), countOf(wanted, part)]
    if (fault === 'not used as') return has < needs && given.length < wanted.length
    const first = given.findIndex((one, i) => countOf(given.slice(0, i + 1), one) > countOf(wanted, one))
    return given[first] === part && (fault === 'not in' ? needs === 0 : needs > 0 && text.includes(`(${needs} time`))
  }
}

/** “The answer is 9, but the grid has 7 cells of land.”: a count outside the limits that hold for it. */
function range(limits: (metadata: Metadata) => readonly [least: number, most: number]): Checker {
  return (answer, metadata, text) => {
    const [value, most] = groupsOf(/^The answer is (-?\d+), but (?:\D* (\d+))?/, text) ?? []
    if (value === undefined) return undefined
    const [least, greatest] = limits(metadata)
    const isOutside = Number(answer) < least || Number(answer) > greatest
    return isOutside && Number(value) === Number(answer) && (most === undefined || Number(most) === greatest)
  }
}

const notNegative = range(() => [0, Number.POSITIVE_INFINITY])

/** “Row 1, column 2 is 5, …”, and what holds of that cell. */
function cell(
  pattern: RegExp,
  isTrue: (value: number, place: [number, number], groups: string[], metadata: Metadata) => boolean,
): Checker {
  return (answer, metadata, text) => {
    const [row, column, value, ...more] = groupsOf(pattern, text) ?? []
    if (row === undefined || column === undefined) return undefined
    const given = answer.trim().split('\n')[Number(row) - 1]?.trim().split(/\s+/)[Number(column) - 1]
    return given === value && isTrue(Number(value), [Number(row) - 1, Number(column) - 1], more, metadata)
  }
}

const divisorOf = (a: number, b: number) => {
  for (let k = Math.min(a, b); k > 1; k--) if (a % k === 0 && b % k === 0) return k
  return Math.max(a, b)
}

export const CONTENT_CHECKERS: Checkers = {
  aiw: notNegative,
  leg_counting: notNegative,
  rectangle_count: notNegative,
  self_reference: notNegative,
  binary_alternation: range(({ string }) => [-1, string.length]),
  count_bits: range(({ binary }) => [1, binary.length]),
  count_primes: range(({ start, end }) => [0, end - start + 1]),
  largest_island: range(({ grid }) => [1, countOf(cells(grid), '1')]),
  letter_counting: range(({ span }) => [0, span.join(' ').length]),
  rotten_oranges: range(({ matrix }) => [-1, countOf(cells(matrix), '1')]),
  coin_flip: (answer, _metadata, text) =>
    text.includes('is not between') && !(Number(answer) >= 0 && Number(answer) <= 1),
  group_anagrams: (answer, metadata, text, item) => {
    const [word = '', group, other = ''] = groupsOf(/^`(.+)` in group (\d+) is not an anagram of `(.+)`/, text) ?? []
    if (group === undefined)
      return parts(
        ({ words }) => words,
        (list) => JSON.parse(list).flat(),
      )(answer, metadata, text, item)
    const groups = JSON.parse(answer) as string[][]
    const key = (one: string) => [...one].sort().join('')
    return (
      groups[Number(group) - 1]?.includes(word) === true &&
      groups[Number(group) - 1]?.[0] === other &&
      key(word) !== key(other)
    )
  },
  rotate_matrix: parts(({ matrix }) => cells(matrix), bySpaces),
  sentence_reordering: parts((_metadata, right) => bySpaces(right), bySpaces),
  spiral_matrix: (answer, metadata, text, item) => {
    const [first, given] = groupsOf(/^The spiral starts at (-?\d+), but the answer starts with (-?\d+)/, text) ?? []
    if (first === undefined) return parts(() => cells(metadata.matrix), bySpaces)(answer, metadata, text, item)
    return String(metadata.solution[0]) === first && bySpaces(answer)[0] === given && first !== given
  },
  word_sequence_reversal: parts((_metadata, right) => byCommas(right), byCommas),
  word_sorting: (answer, metadata, text, item) => {
    const [a = '', b] = groupsOf(/^`(.+)` before `(.+)` is not in/, text) ?? []
    if (b === undefined)
      return parts(({ transformed_words }) => transformed_words, byCommas)(answer, metadata, text, item)
    const order = metadata.sorted_words as string[]
    return byCommas(answer).join().includes(`${a},${b}`) && order.indexOf(a) > order.indexOf(b)
  },
  arc_1d: (answer, { size }, text) =>
    text.startsWith('In each example') ? bySpaces(answer).length !== size && text.endsWith(`for ${size}.`) : undefined,
  base_conversion: (answer, { target_base }, text) => {
    const [digit] = groupsOf(/^(\S) is not a digit in base/, text) ?? []
    if (digit === undefined) return undefined
    const digits = '0123456789abcdefghijklmnopqrstuvwxyz'.slice(0, target_base)
    return [...answer.trim()].find((one) => !digits.includes(one)) === digit && text.endsWith(`base ${target_base}.`)
  },
  binary_matrix: (answer, { matrix }, text) => {
    const [i = 0, k = 0] = (groupsOf(/^Row (\d+), column (\d+)/, text) ?? []).map((place) => Number(place) - 1)
    const rows = answer
      .trim()
      .split('\n')
      .map((line) => line.split(' ').map(Number))
    const value = rows[i]?.[k] ?? Number.NaN
    const neighbors = [rows[i - 1]?.[k], rows[i + 1]?.[k], rows[i]?.[k - 1], rows[i]?.[k + 1]].filter(
      (one) => one !== undefined,
    )
    if (text.includes('has a 0 there')) return matrix[i][k] === 0 && value !== 0
    if (text.includes('has no 0 there')) return matrix[i][k] !== 0 && value === 0
    const [near] = groupsOf(/but a neighbor is (\d+)/, text) ?? []
    if (near !== undefined) return neighbors.includes(Number(near)) && Math.abs(Number(near) - value) > 1
    return text.includes('no neighbor is') ? !neighbors.includes(value - 1) : undefined
  },
  dice: (answer, { puzzle }, text) => {
    const [top = 0, bottom = 0] = answer.split('/').map(Number)
    const [, by] = groupsOf(/^(\S+) can be reduced by (\d+)/, text) ?? []
    if (by !== undefined) return divisorOf(top, bottom) === Number(by) && Number(by) > 1
    if (text.includes('is more than 1')) return top > bottom
    if (text.startsWith('The denominator is 0')) return bottom === 0
    const ways = puzzle.dice_str.split(', ').reduce((n: number, die: string) => n * Number(die.split('d')[1]), 1)
    return text.startsWith(`The dice can fall in ${ways} ways`) && ways % bottom !== 0
  },
  emoji_mystery: (answer, _metadata, text, { entry }) => {
    const bytes = (sentence: string) => new TextEncoder().encode(sentence).length
    return text.startsWith('The emoji hides') ? bytes(answer) !== bytes(entry.answer ?? '') : undefined
  },
  manipulate_matrix: cell(/^Row (\d+), column (\d+) is (-?\d+), which/, (value, _place, _more, { matrix, solution }) =>
    [matrix, solution].every((one) => !one.flat().includes(value)),
  ),
  pool_matrix: cell(
    /^Row (\d+), column (\d+) is ([-\d.]+)/,
    (value, [i, k], _more, { matrix, pool_size: size, pool_type }) => {
      const isInside = (y: number, x: number) => Math.floor(y / size) === i && Math.floor(x / size) === k
      const region = matrix.flatMap((row: number[], y: number) => row.filter((_, x) => isInside(y, x)))
      if (pool_type === 'max') return !region.includes(value)
      return value > Math.max(...region) || value < Math.min(...region)
    },
  ),
  modulo_grid: (answer, _metadata, text, { entry }) => {
    const [row, column, given, found] =
      groupsOf(/^Row (\d+), column (\d+) is given as (.), but the answer has (.)\./, text) ?? []
    if (row === undefined) return undefined
    const at = (grid: string) => grid.trim().split('\n')[Number(row) - 1]?.[Number(column) - 1]
    return at(entry.answer ?? '') === given && at(answer) === found && given !== found
  },
  maze: (answer, { shortest_path_length: length }, text) => {
    const value = Number(answer)
    if (text.includes('even without walls')) return value < length && text.endsWith(`the answer is ${value}.`)
    const [kind] = groupsOf(/has an (even|odd) number of steps/, text) ?? []
    return kind === undefined ? undefined : (length % 2 === 0) === (kind === 'even') && (value - length) % 2 !== 0
  },
  simple_geometry: (answer, { missing_angle_rounded, total_interior_sum }, text) =>
    text.startsWith('The angles then sum')
      ? Math.abs(Number(answer) - missing_angle_rounded) > 1e-6 && text.endsWith(`sum to ${total_interior_sum}°.`)
      : undefined,
  number_format: (answer, { candidates, size }, text) => {
    const value = Number(answer.replaceAll(',', ''))
    if (text.includes('none of the candidates'))
      return candidates.every((one: number) => Math.abs(one - value) > 0.0099)
    const best = size === 'largest' ? Math.max(...candidates) : Math.min(...candidates)
    return / is (?:larger|smaller) than /.test(text) ? Math.abs(best - value) > 0.0099 : undefined
  },
  needle_haystack: (answer, _metadata, text, { question }) =>
    text.startsWith('The text names no person')
      ? !new RegExp(`(^|[.] |\\n)${RegExp.escape(answer.trim())} `, 'i').test(question)
      : undefined,
  zebra_puzzles: (answer, _metadata, text, { question }) =>
    text.startsWith('The puzzle names no')
      ? !question
          .toLowerCase()
          .split(/[^a-z]+/)
          .includes(answer.trim().toLowerCase())
      : undefined,
  color_cube_rotation: (answer, { initial_state }, text) =>
    text.startsWith('No side') ? !Object.values(initial_state).includes(answer.trim().toLowerCase()) : undefined,
  polynomial_multiplication: (answer, { variables }, text) => {
    const [name = ''] = groupsOf(/^The variable (\w) is not/, text) ?? []
    return name === '' ? undefined : answer.includes(name) && !variables.includes(name)
  },
  palindrome_partitioning: (answer, { string, solution }, text) => {
    const lists = JSON.parse(answer) as string[][]
    if (text.startsWith('Not all')) return lists.length < solution.length
    const [number] = groupsOf(/^The parts of partition (\d+) do not join/, text) ?? []
    return number === undefined ? undefined : lists.findIndex((list) => list.join('') !== string) === Number(number) - 1
  },
  string_insertion: (answer, { string }, text) => {
    const [letter] = groupsOf(/but letter (\d+) of the string is missing/, text) ?? []
    const has = (length: number) => new RegExp(`^${string.slice(0, length).replaceAll(/./g, '[^$&]*$&')}`).test(answer)
    return letter === undefined ? undefined : has(Number(letter) - 1) && !has(Number(letter))
  },
  knights_knaves: (answer, { knight_knave_terms: terms }, text) => {
    const [name, role = ''] = groupsOf(/^(\S+) is called `(.+)`/, text) ?? []
    if (name === undefined) return undefined
    return new RegExp(`${name} is an? ${role}`, 'i').test(answer) && role !== terms.knight && role !== terms.knave
  },
  tsumego: (answer, { board }, text) => {
    const row = board[board.length - Number(answer.trim().slice(1))]
    const stone = row?.['ABCDEFGHIJKLMNOPQRSTUVWXYZ'.indexOf(answer.trim()[0] ?? '')]
    return text.endsWith('is not on the board.') ? stone === undefined : stone === 'X' || stone === 'O'
  },
}
