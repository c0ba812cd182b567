/** Formats rows as an aligned table: numbers to the right, text to the left. In a terminal, the table fits the width. */
import { heading, measureWidth, muted, paint, replaceControls, type Tone } from './output.ts'

/** A cell in a color: green for good, yellow for a warning, red for bad. */
export interface TonedCell {
  text: string
  tone: Tone | undefined
}

export type TableCell = string | number | TonedCell | null | undefined

const GAP = '  '
/** A text column is not made narrower than this, unless its content is. */
const MIN_TEXT_WIDTH = 8
const NUMERIC = /^(?:[-+±]?\d[\d.,]*(?:\s?%)?|\d+\/\d+|\[-?[\d.]+, -?[\d.]+\]|–)$/

/** Width of the terminal, or Infinity if stdout is a file or a pipe. */
export function getOutputWidth(): number {
  return process.stdout.isTTY && process.stdout.columns > 0 ? process.stdout.columns : Number.POSITIVE_INFINITY
}

/** Truncates the text columns, widest first, until the table fits, and then drops columns from the right. Numbers are never truncated. */
export function formatTable(head: string[], rows: TableCell[][], width = getOutputWidth()): string {
  const texts = rows.map((row) => head.map((_, column) => formatCell(row[column])))
  const right = head.map((_, column) => isNumeric(texts.map((row) => row[column] ?? '')))
  const natural = head.map((title, column) =>
    Math.max(measureWidth(title), ...texts.map((row) => measureWidth(row[column] ?? ''))),
  )
  const widths = fitWidths(natural, right, width)
  if (sumWidths(widths) > width && head.length > 2) return formatTable(dropLast(head), rows.map(dropLast), width)
  const formatLine = (cells: string[], style: (text: string, column: number) => string) =>
    cells
      .map((cell, column) => {
        const text = truncate(cell, widths[column] ?? 0)
        const blanks = ' '.repeat((widths[column] ?? 0) - measureWidth(text))
        const styled = style(text, column)
        if (right[column]) return blanks + styled
        return column === cells.length - 1 ? styled : styled + blanks
      })
      .join(GAP)
      .trimEnd()
  return [
    formatLine(head, (text) => heading(text)),
    muted(widths.map((columns) => '─'.repeat(columns)).join(GAP)),
    ...texts.map((cells, row) => formatLine(cells, (text, column) => paint(text, getTone(rows[row]?.[column])))),
  ].join('\n')
}

/** Leaves out the columns that hold nothing: only blanks, dashes or zeros. The first column stays. */
export function dropEmptyColumns(head: string[], rows: TableCell[][]): [head: string[], rows: TableCell[][]] {
  const isKept = head.map((_, column) => column === 0 || rows.some((row) => !isEmpty(row[column])))
  const keep = <T>(cells: T[]) => cells.filter((_, column) => isKept[column])
  return [keep(head), rows.map((row) => keep(row))]
}

/** Formats names with their values in two columns, without a heading. */
export function formatFacts(facts: [name: string, value: TableCell][], width = getOutputWidth()): string {
  const names = Math.max(...facts.map(([name]) => measureWidth(name)))
  return facts
    .map(([name, value]) => {
      const text = truncate(formatCell(value), Math.max(MIN_TEXT_WIDTH, width - names - GAP.length))
      return `${muted(name.padEnd(names))}${GAP}${paint(text, getTone(value))}`.trimEnd()
    })
    .join('\n')
}

/** Shortens the text to the width; the last character is then an ellipsis. */
export function truncate(text: string, width: number): string {
  return measureWidth(text) <= width
    ? text
    : `${[...text]
        .slice(0, Math.max(0, width - 1))
        .join('')
        .trimEnd()}…`
}

function fitWidths(natural: number[], isFixed: boolean[], width: number): number[] {
  const widths = [...natural]
  while (sumWidths(widths) > width) {
    const candidates = widths.map((columns, k) => (isFixed[k] || columns <= MIN_TEXT_WIDTH ? 0 : columns))
    const widest = Math.max(...candidates)
    if (widest === 0) break
    const next = Math.max(MIN_TEXT_WIDTH, ...candidates.filter((columns) => columns < widest))
    const at = candidates.indexOf(widest)
    widths[at] = Math.max(Math.min(next, widest - 1), widest - (sumWidths(widths) - width))
  }
  return widths
}

function sumWidths(widths: number[]): number {
  return widths.reduce((total, columns) => total + columns, GAP.length * (widths.length - 1))
}

/** A terminal that is too narrow for all columns of numbers shows the first ones. */
function dropLast<T>(cells: T[]): T[] {
  return cells.slice(0, -1)
}

function formatCell(cell: TableCell): string {
  if (cell === null || cell === undefined) return '–'
  if (typeof cell === 'object') return toOneLine(cell.text)
  if (typeof cell === 'string') return toOneLine(cell)
  if (typeof cell !== 'number' || Number.isInteger(cell)) return String(cell)
  return cell.toFixed(3)
}

/** A cell is as wide as it is long, whatever a name in it contains. */
function toOneLine(text: string): string {
  return replaceControls(text.replace(/[\r\n\t]+/g, ' '))
}

function getTone(cell: TableCell): Tone | undefined {
  return typeof cell === 'object' && cell !== null ? cell.tone : undefined
}

function isNumeric(texts: string[]): boolean {
  return texts.some((text) => text !== '–' && text !== '') && texts.every((text) => text === '' || NUMERIC.test(text))
}

function isEmpty(cell: TableCell): boolean {
  const text = formatCell(cell)
  return text === '' || text === '–' || (NUMERIC.test(text) && Number(text) === 0)
}
