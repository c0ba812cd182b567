/** Formats rows as an aligned table: numbers to the right, text to the left. */

export type TableCell = string | number | null | undefined

export function formatTable(head: string[], rows: TableCell[][]): string {
  const cells = [head, ...rows.map((row) => row.map(formatCell))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => countCodePoints(row[column] ?? ''))))
  const right = head.map((_, column) => rows.some((row) => typeof row[column] === 'number'))
  const lines = cells.map((row) =>
    row
      .map((cell, column) => padCell(cell, widths[column] ?? 0, right[column] ?? false))
      .join('  ')
      .trimEnd(),
  )
  return [lines[0], widths.map((width) => '─'.repeat(width)).join('  '), ...lines.slice(1)].join('\n')
}

function formatCell(cell: TableCell): string {
  if (cell === null || cell === undefined) return '–'
  if (typeof cell !== 'number' || Number.isInteger(cell)) return String(cell)
  return cell.toFixed(3)
}

function padCell(cell: string, width: number, right: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - countCodePoints(cell)))
  return right ? blanks + cell : cell + blanks
}

function countCodePoints(text: string): number {
  return [...text].length
}
