/** Draws bars with their 95% intervals as inline SVG, for means between 0 and 1. */

export interface Bar {
  label: string
  mean: number | null
  /** Lower and upper end of the interval. */
  interval: number[] | null
  /** Text at the end of the bar. */
  note: string
}

const LABEL_WIDTH = 230
const PLOT_WIDTH = 420
const NOTE_WIDTH = 150
const ROW_HEIGHT = 22
const HEADER_HEIGHT = 24

export function renderBarChart(title: string, bars: Bar[]): string {
  const height = HEADER_HEIGHT + bars.length * ROW_HEIGHT + 6
  const width = LABEL_WIDTH + PLOT_WIDTH + NOTE_WIDTH
  const x = (value: number) => roundToTenth(LABEL_WIDTH + Math.min(Math.max(value, 0), 1) * PLOT_WIDTH)
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      `<line class="grid" x1="${x(value)}" x2="${x(value)}" y1="${HEADER_HEIGHT - 6}" y2="${height - 4}"/>` +
      `<text class="tick" x="${x(value)}" y="${HEADER_HEIGHT - 10}" text-anchor="middle">${value}</text>`,
  )
  const rows = bars.map(({ label, mean, interval, note }, k) => {
    const [from = 0, to = 0] = interval ?? []
    const y = HEADER_HEIGHT + k * ROW_HEIGHT
    const middle = y + ROW_HEIGHT / 2
    const bar =
      mean === null
        ? ''
        : `<rect class="bar" x="${LABEL_WIDTH}" y="${y + 4}" width="${roundToTenth(x(mean) - LABEL_WIDTH)}" height="${ROW_HEIGHT - 8}"/>`
    const error =
      interval === null
        ? ''
        : `<path class="error" d="M${x(from)} ${middle}H${x(to)}M${x(from)} ${middle - 4}v8M${x(to)} ${middle - 4}v8"/>`
    return (
      `<text x="${LABEL_WIDTH - 8}" y="${middle + 4}" text-anchor="end">${escapeHtml(label)}</text>${bar}${error}` +
      `<text class="note" x="${LABEL_WIDTH + PLOT_WIDTH + 10}" y="${middle + 4}">${escapeHtml(note)}</text>`
    )
  })
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeHtml(title)}">${grid.join('')}${rows.join('')}</svg>`
}

export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replace(/[&<>"']/g, (mark) => entities[mark] ?? mark)
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10
}
