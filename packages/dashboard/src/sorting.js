/** Searches and sorts the rows of a table: by a column, in an order that an address can name: `score` is descending, `-score` ascending. */
import { compareByName } from './format.js'

/**
 * `columns`: by key, the value of a row, a number or text. Numbers start descending, texts ascending. Rows without a value
 * come last in both directions.
 */
export function sortRows(rows, columns, order) {
  const { key, reverse } = parseOrder(order)
  const pick = columns[key]
  if (!pick) return rows
  return rows
    .map((row, place) => ({ row, place, value: pick(row) ?? null }))
    .toSorted((x, y) => {
      if (x.value === null || y.value === null)
        return Number(x.value === null) - Number(y.value === null) || x.place - y.place
      return (compareValues(x.value, y.value) || 0) * (reverse ? -1 : 1) || x.place - y.place
    })
    .map(({ row }) => row)
}

/** The order after a click on a heading: the other direction if the table is sorted by it already. */
export function nextOrder(order, key) {
  return order === key ? `-${key}` : key
}

export function parseOrder(order) {
  const reverse = order.startsWith('-')
  return { key: reverse ? order.slice(1) : order, reverse }
}

function compareValues(a, b) {
  if (typeof a === 'number') return b - a
  return a === b ? 0 : compareByName(a, b)
}

/** Whether a row has all words of a search, in any case. `listTexts`: what is searched of a row. */
export function matchWords(search, listTexts) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return (row) => {
    const text = listTexts(row).join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  }
}
