/** list_functions: whether the simple functions that fit the examples give one answer. */
import type { DatasetEntry } from '../scorer.ts'
import type { Correction } from './correction.ts'

type List = readonly number[]
type ListFunction = (list: List) => List | undefined

const MAX_NUMBER = 100
const at = (list: List, k: number): List | undefined => {
  const element = list.at(k)
  return element === undefined ? undefined : [element]
}
const ascend = (list: List) => list.toSorted((a, b) => a - b)
const sum = (list: Iterable<number>) => [...list].reduce((total, n) => total + n, 0)

const PLAIN: readonly ListFunction[] = [
  (list) => list,
  (list) => list.toReversed(),
  ascend,
  (list) => ascend(list).toReversed(),
  (list) => [list.length],
  (list) => [sum(list)],
  (list) => [Math.max(...list)],
  (list) => [Math.min(...list)],
  ...[-3, -2, -1, 0, 1, 2, 3].map(
    (k): ListFunction =>
      (list) =>
        at(list, k),
  ),
  (list) => at(list, Math.floor(list.length / 2)),
  (list) => list.map((n, k) => n + k),
  (list) => at(list, list.at(-1) ?? 0),
  (list) => at(list, (list.at(-1) ?? 0) - 1),
  (list) => list.filter((_, k) => (list[k + 1] ?? 1) % 2 === 0),
  (list) => list.map((n, k) => (k === 0 || k === list.length - 1 ? n + 1 : n)),
  (list) => (list.length > 1 ? [isSame(list, ascend(list)) ? 1 : 0] : undefined),
  (list) => (list.length === 1 ? [sum(list) % 10 === 0 ? 1 : 0] : undefined),
  (list) =>
    at(
      list.map((n) => 2 * n),
      -1,
    ),
]
const WITH_A_NUMBER: readonly ListFunction[] = Array.from({ length: MAX_NUMBER }, (_, k) => k + 1).flatMap((limit) => [
  (list) => [list.filter((n) => n === limit).length],
  (list) => [sum(list.filter((n) => n < limit))],
  (list) => [sum(new Set(list.filter((n) => n < limit)))],
])

function isSame(a: List, b: List | undefined): boolean {
  return a.length === b?.length && a.every((n, k) => n === b[k])
}

/** A function with a number in it is looked for only where no plain one fits. */
function isDetermined({ question, answer }: DatasetEntry): boolean {
  const lists = Array.from(question.matchAll(/put(?: \d+)?: (\[.*\])/g), ([, text]): number[] =>
    JSON.parse(text ?? '[]'),
  )
  const [given = [], key] = [lists.at(-1), JSON.parse(answer ?? '[]')]
  const examples = Array.from({ length: (lists.length - 1) / 2 }, (_, k) => lists.slice(2 * k, 2 * k + 2))
  const fits = (f: ListFunction) => examples.every(([input = [], output = []]) => isSame(output, f(input)))
  const plain = PLAIN.filter(fits)
  return (plain.length > 0 ? plain : WITH_A_NUMBER.filter(fits)).every((f) => isSame(key, f(given)))
}

export const listFunctions: Correction = {
  reason: 'Simple functions that fit all examples, such as sums of the numbers below some limit, differ on the input.',
  hasRightAnswer: isDetermined,
}
