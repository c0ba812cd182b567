/** Lists of numbers, and a number picked from a list. */
import { strip } from '../python/text.ts'
import { isNumber, patternAnswer, textListAnswer } from './forms.ts'
import {
  brokenRule,
  createMultisetCheck,
  createMultisetComparison,
  describeDifference,
  type Explainer,
  findDisorder,
  formatFault,
  quote,
  readQuestion,
  textAfter,
} from './violation.ts'

const TEXT_LIST_FORM = "a list of numbers as strings, such as ['-69', '13']"

export const numberSorting: Explainer = (question) => {
  const [direction = '', list = ''] = readQuestion(question, /in (ascending|descending) order: (.*)/)
  const checkNumbers = createMultisetCheck(list.split(', ').map(formatPlain), 'number')
  return textListAnswer(TEXT_LIST_FORM, (items) => {
    const strange = items.findIndex((item) => !isNumber(item))
    if (strange >= 0)
      return formatFault(`Item ${strange + 1} must be a number, but it is ${quote(items[strange] ?? '')}.`, {
        item: strange + 1,
      })
    const isReversed = (a: string, b: string) =>
      direction === 'ascending' ? Number(a) > Number(b) : Number(a) < Number(b)
    return checkNumbers(items.map(formatPlain)) ?? findDisorder(items, direction, isReversed, String)
  })
}

/** `5.0` and `5.00` are the same number. */
function formatPlain(text: string): string {
  return String(Number(text))
}

export const numberFiltering: Explainer = (question) => {
  const [verb, comparison, limit = '', list = ''] = readQuestion(
    question,
    /(Keep|Remove) all numbers (larger|smaller) than (\S+) in this list: \[(.*)\]/,
  )
  const numbers = list.split(', ').map((item) => item.slice(1, -1))
  const matches = (item: string) =>
    comparison === 'larger' ? Number(item) > Number(limit) : Number(item) < Number(limit)
  const isKept = (item: string) => matches(item) === (verb === 'Keep')
  const kept = numbers.filter(isKept)
  const [compareWithAll, compareWithKept] = [createMultisetComparison(numbers), createMultisetComparison(kept)]
  return textListAnswer(TEXT_LIST_FORM, (items) => {
    const difference = compareWithAll(items)
    if (difference && difference.kind !== 'missing') return describeDifference(difference, 'number')
    const extra = items.findIndex((item) => !isKept(item))
    if (extra >= 0)
      return brokenRule(
        `${items[extra]} is ${matches(items[extra] ?? '') ? '' : 'not '}${comparison} than ${limit}, so it must not be in the list.`,
        { item: extra + 1 },
      )
    const missing = compareWithKept(items)
    if (missing?.kind === 'missing')
      return brokenRule(
        `${missing.part} is ${matches(missing.part) ? '' : 'not '}${comparison} than ${limit}, so it must be in the list.`,
      )
    const moved = items.findIndex((item, i) => item !== kept[i])
    return moved < 0
      ? undefined
      : brokenRule(`${items[moved]} is not in its place: the order must not change.`, { item: moved + 1 })
  })
}

const PICK_TOLERANCE = 0.01

export const numberFormat: Explainer = (question) => {
  const [direction] = readQuestion(question, /pick the (largest|smallest) number of/)
  const candidates = strip(textAfter(question, 'following candidates: ')).split(' ')
  return patternAnswer(/^[+-]?[\d,]+(?:\.\d*)?(?:[eE][+-]?\d+)?$/, 'one number', (text) => {
    const value = toNumber(text)
    if (!candidates.some((candidate) => Math.abs(toNumber(candidate) - value) <= PICK_TOLERANCE))
      return brokenRule(`${quote(text)} is none of the candidates.`)
    const better = candidates.find((candidate) => {
      const margin = direction === 'largest' ? toNumber(candidate) - value : value - toNumber(candidate)
      return margin > PICK_TOLERANCE
    })
    return better === undefined
      ? undefined
      : brokenRule(`${quote(better)} is ${direction === 'largest' ? 'larger' : 'smaller'} than ${quote(text)}.`)
  })
}

function toNumber(text: string): number {
  return Number(text.replaceAll(',', ''))
}
