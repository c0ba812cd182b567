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

const notNegative: Checker = (answer, _metadata, text) =>
  text === `The answer is ${Number(answer)}, but a count is not negative.` && Number(answer) < 0

export const CONTENT_CHECKERS: Checkers = {
  aiw: notNegative,
  count_bits: notNegative,
  count_primes: notNegative,
  largest_island: notNegative,
  leg_counting: notNegative,
  letter_counting: notNegative,
  maze: notNegative,
  rectangle_count: notNegative,
  self_reference: notNegative,
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
  modulo_grid: (answer, _metadata, text, { entry }) => {
    const [row, column, given, found] =
      groupsOf(/^Row (\d+), column (\d+) is given as (.), but the answer has (.)\./, text) ?? []
    if (row === undefined) return undefined
    const at = (grid: string) => grid.trim().split('\n')[Number(row) - 1]?.[Number(column) - 1]
    return at(entry.answer ?? '') === given && at(answer) === found && given !== found
  },
  number_format: (answer, { candidates, size }, text) => {
    const value = Number(answer.replaceAll(',', ''))
    if (text.includes('none of the candidates'))
      return candidates.every((one: number) => Math.abs(one - value) > 0.0099)
    const best = size === 'largest' ? Math.max(...candidates) : Math.min(...candidates)
    return / is (?:larger|smaller) than /.test(text) ? Math.abs(best - value) > 0.0099 : undefined
  },
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
