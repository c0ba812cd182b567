/** Writes a matrix that was answered as a Python literal in the form that the task asks for. */
import { iterate, PyTypeError, type PyValue } from '../python/values.ts'

/** Items joined by spaces, rows by line ends; `write` gives an item's text. Throws PyTypeError where Python cannot. */
export function formatMatrix(matrix: PyValue, write: (item: PyValue) => string): string {
  return iterate(matrix)
    .map((row) => iterate(row).map(write).join(' '))
    .join('\n')
}

/** For Python's `join`, which takes texts alone. */
export function requireText(item: PyValue): string {
  if (typeof item !== 'string') throw new PyTypeError('no text')
  return item
}
