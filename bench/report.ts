/** Formats benchmark rows as a Markdown table, and as a chart that compares each figure with its target. */
import { type BenchRow, isTargetReached } from './bench-row.ts'

export function formatResultTable(rows: BenchRow[]): string {
  const lines = rows.map((row) => {
    const aim = row.least !== undefined ? `≥ ${row.least}` : row.most !== undefined ? `≤ ${row.most}` : ''
    const verdict = isTargetReached(row)
    const mark = verdict === undefined ? '' : verdict ? 'yes' : '**no**'
    return `| ${row.work} | ${row.what} | ${formatFigure(row.value)} ${row.unit} | ${aim} | ${mark} | ${row.beside ?? ''} |`
  })
  return ['| | measurement | result | target | met | details |', '|---|---|---|---|---|---|', ...lines].join('\n')
}

const ROW_HEIGHT = 22
/** Of the font, with room to spare: labels must not be cut off. */
const CHAR_WIDTH = 7
const BAR_AREA_WIDTH = 440
/** For the figure beside the longest bar. */
const VALUE_WIDTH = 90
/** The scale ends at a tenth of the target and at ten times it. */
const DECADES = 1

export function renderResultChart(rows: BenchRow[]): string {
  const drawn = rows.filter(({ least, most }) => (least ?? most ?? 0) > 0)
  const height = (drawn.length + 2) * ROW_HEIGHT
  const labels = drawn.map(({ work, what }) => `${work} ${what}`)
  const labelWidth = 20 + CHAR_WIDTH * Math.max(...labels.map(({ length }) => length))
  const chartWidth = labelWidth + BAR_AREA_WIDTH + VALUE_WIDTH
  const x = (times: number) => {
    const place = Math.min(1, Math.max(-1, Math.log10(times) / DECADES))
    return labelWidth + (BAR_AREA_WIDTH * (place + 1)) / 2
  }
  const bars = drawn.map((row, k) => {
    const times = row.least !== undefined ? row.value / row.least : (row.most ?? 0) / Math.max(row.value, 1e-9)
    const y = (k + 1) * ROW_HEIGHT
    const [from, to] = [Math.min(x(1), x(times)), Math.max(x(1), x(times))]
    const colour = times >= 1 ? '#2a7d4f' : '#b3401f'
    return [
      `<text x="${labelWidth - 10}" y="${y + 15}" text-anchor="end">${escapeXml(labels[k] ?? '')}</text>`,
      `<rect x="${from.toFixed(1)}" y="${y + 3}" width="${Math.max(1, to - from).toFixed(1)}" height="${ROW_HEIGHT - 7}" fill="${colour}"/>`,
      `<text x="${(to + 6).toFixed(1)}" y="${y + 15}">${escapeXml(`${formatFigure(row.value)} ${row.unit}`)}</text>`,
    ].join('\n')
  })
  const scale = [0.1, 0.3, 1, 3, 10].map(
    (times) => `<text x="${x(times)}" y="15" text-anchor="middle">${times} ×</text>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${chartWidth} ${height}" font-family="sans-serif" font-size="12" role="img">`,
    '<title>Each figure as a multiple of its target; bars to the right of 1 meet it</title>',
    `<rect width="${chartWidth}" height="${height}" fill="#ffffff"/>`,
    ...scale,
    `<line x1="${x(1)}" x2="${x(1)}" y1="20" y2="${height - ROW_HEIGHT}" stroke="#555"/>`,
    ...bars,
    '</svg>\n',
  ].join('\n')
}

function formatFigure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : Number(value.toPrecision(3)).toString()
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
