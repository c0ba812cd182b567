/** Bars with their 95 % intervals, as inline SVG: means between 0 and 1. */

export interface Bar {
  label: string
  mean: number | null
  /** From and to. */
  interval: number[] | null
  /** What stands at the end of the bar. */
  note: string
}

const LABEL = 230
const SCALE = 420
const NOTE = 150
const ROW = 22
const HEAD = 24

export function barChart(title: string, bars: Bar[]): string {
  const height = HEAD + bars.length * ROW + 6
  const width = LABEL + SCALE + NOTE
  const x = (value: number) => round(LABEL + Math.min(Math.max(value, 0), 1) * SCALE)
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      `<line class="grid" x1="${x(value)}" x2="${x(value)}" y1="${HEAD - 6}" y2="${height - 4}"/>` +
      `<text class="tick" x="${x(value)}" y="${HEAD - 10}" text-anchor="middle">${value}</text>`,
  )
  const rows = bars.map(({ label, mean, interval, note }, k) => {
    const [from = 0, to = 0] = interval ?? []
    const y = HEAD + k * ROW
    const middle = y + ROW / 2
    const bar =
      mean === null
        ? ''
        : `<rect class="bar" x="${LABEL}" y="${y + 4}" width="${round(x(mean) - LABEL)}" height="${ROW - 8}"/>`
    const error =
      interval === null
        ? ''
        : `<path class="error" d="M${x(from)} ${middle}H${x(to)}M${x(from)} ${middle - 4}v8M${x(to)} ${middle - 4}v8"/>`
    return (
      `<text x="${LABEL - 8}" y="${middle + 4}" text-anchor="end">${escapeHtml(label)}</text>${bar}${error}` +
      `<text class="note" x="${LABEL + SCALE + 10}" y="${middle + 4}">${escapeHtml(note)}</text>`
    )
  })
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeHtml(title)}">${grid.join('')}${rows.join('')}</svg>`
}

export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replace(/[&<>"']/g, (mark) => entities[mark] ?? mark)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
