/** Markdown tables. */

export function formatTable(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(escapeTableCell).join(' | ')} |`).join('\n')
}

export function escapeTableCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
