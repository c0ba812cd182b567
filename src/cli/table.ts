/** Rows as aligned text: numbers to the right, words to the left. */

export type Cell = string | number | null | undefined

export function tableOf(head: string[], rows: Cell[][]): string {
  const cells = [head, ...rows.map((row) => row.map(spell))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ''))))
  const right = head.map((_, column) => rows.some((row) => typeof row[column] === 'number'))
  const lines = cells.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0, right[column] ?? false))
      .join('  ')
      .trimEnd(),
  )
  return [lines[0], widths.map((width) => '─'.repeat(width)).join('  '), ...lines.slice(1)].join('\n')
}

function spell(cell: Cell): string {
  if (cell === null || cell === undefined) return '–'
  if (typeof cell !== 'number' || Number.isInteger(cell)) return String(cell)
  return cell.toFixed(3)
}

function pad(cell: string, width: number, right: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(cell)))
  return right ? blanks + cell : cell + blanks
}

function widthOf(text: string): number {
  return [...text].length
}
