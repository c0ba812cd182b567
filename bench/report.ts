/** Rows as Markdown, and as a chart: how far each figure is from what it must reach. */
import { type BenchRow, isTargetReached } from './bench-row.ts'

export function formatResultTable(rows: BenchRow[]): string {
  const lines = rows.map((row) => {
    const aim = row.least !== undefined ? `≥ ${row.least}` : row.most !== undefined ? `≤ ${row.most}` : ''
    const verdict = isTargetReached(row)
    const mark = verdict === undefined ? '' : verdict ? 'yes' : '**no**'
    return `| ${row.work} | ${row.what} | ${formatFigure(row.value)} ${row.unit} | ${aim} | ${mark} | ${row.beside ?? ''} |`
  })
  return ['| | measured | found | must reach | reached | beside |', '|---|---|---|---|---|---|', ...lines].join('\n')
}

const ROW_HEIGHT = 22
const LABEL_WIDTH = 430
const CHART_WIDTH = 960
/** The chart ends at a tenth of the aim and at ten times it. */
const DECADES = 1

export function renderResultChart(rows: BenchRow[]): string {
  const drawn = rows.filter(({ least, most }) => (least ?? most ?? 0) > 0)
  const height = (drawn.length + 2) * ROW_HEIGHT
  const x = (times: number) => {
    const place = Math.min(1, Math.max(-1, Math.log10(times) / DECADES))
    return LABEL_WIDTH + ((CHART_WIDTH - LABEL_WIDTH - 90) * (place + 1)) / 2
  }
  const bars = drawn.map((row, k) => {
    const times = row.least !== undefined ? row.value / row.least : (row.most ?? 0) / Math.max(row.value, 1e-9)
    const y = (k + 1) * ROW_HEIGHT
    const [from, to] = [Math.min(x(1), x(times)), Math.max(x(1), x(times))]
    const colour = times >= 1 ? '#2a7d4f' : '#b3401f'
    return [
      `<text x="${LABEL_WIDTH - 10}" y="${y + 15}" text-anchor="end">${escapeXml(`${row.work} ${row.what}`)}</text>`,
      `<rect x="${from.toFixed(1)}" y="${y + 3}" width="${Math.max(1, to - from).toFixed(1)}" height="${ROW_HEIGHT - 7}" fill="${colour}"/>`,
      `<text x="${(to + 6).toFixed(1)}" y="${y + 15}">${escapeXml(`${formatFigure(row.value)} ${row.unit}`)}</text>`,
    ].join('\n')
  })
  const scale = [0.1, 0.3, 1, 3, 10].map(
    (times) => `<text x="${x(times)}" y="15" text-anchor="middle">${times} ×</text>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${CHART_WIDTH} ${height}" font-family="sans-serif" font-size="12" role="img">`,
    '<title>Each figure as a multiple of what it must reach; to the right of 1 is better</title>',
    `<rect width="${CHART_WIDTH}" height="${height}" fill="#ffffff"/>`,
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
