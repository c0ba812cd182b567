/** Writes a line chart as an SVG for papers and slides: round ticks, titles of the axes, the name of the run. Needs no browser. */
import { formatDecimal } from './format.js'

const SIZE = { width: 640, height: 400, left: 64, right: 20, top: 64, bottom: 52 }
/** Those of the light color scheme, because paper is white. */
const COLORS = ['#1d6a73', '#b4551f', '#5b4fa8', '#8a3a63', '#5c6a1f']
const TICKS = 6

/** Round numbers from `low` to `high`, about `TICKS` of them. `whole`: only whole numbers. */
export function listTicks(low, high, { whole = false } = {}) {
  const rough = (high - low || 1) / TICKS
  const power = 10 ** Math.floor(Math.log10(rough))
  const width = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough
  const step = whole ? Math.max(1, Math.round(width)) : width
  const first = Math.ceil(low / step - 1e-9)
  const count = Math.floor(high / step + 1e-9) - first + 1
  return Array.from({ length: Math.max(0, count) }, (_, k) => Number(((first + k) * step).toPrecision(12)))
}

/**
 * `title`: of the chart and its y axis. `subject`: the name of the run, if any. The other properties are those of a `Chart`; `series` have
 * their colors.
 */
export function toSvg({ title, subject, xName, x, series, band, marks = [], time, range, format, log, zoom }) {
  const [from, to] = zoom ?? [x[0], x.at(-1)]
  const inside = [...x.keys()].filter((k) => x[k] >= from && x[k] <= to)
  const isDrawn = (value) => Number.isFinite(value) && value !== null && (!log || value > 0)
  const columns = [...series.map(({ values }) => values), ...(band ? [band.low, band.high] : [])]
  const known = columns.flatMap((values) => inside.map((k) => values[k])).filter(isDrawn)
  const scale = log ? Math.log10 : (value) => value
  const ends = [...known, ...(log ? [] : (range ?? [0]))].map(scale)
  const [low, high] = widen(Math.min(...ends), Math.max(...ends))
  const { width, height, left, right, top, bottom } = SIZE
  const toX = (value) => round(left + ((value - from) / (to - from || 1)) * (width - left - right))
  const toY = (value) => round(height - bottom - ((scale(value) - low) / (high - low)) * (height - top - bottom))
  const trace = (values, places) =>
    places
      .filter((k) => isDrawn(values[k]))
      .map((k) => `${toX(x[k])} ${toY(values[k])}`)
      .join('L')
  const yTicks = log ? listPowers(low, high) : listTicks(low, high)
  const xTicks = listTicks(from, to, { whole: true })
  const nameX = (tick) => (time ? new Date(tick * 1000).toISOString().slice(11, 16) : tick.toLocaleString('en'))
  const nameY = (tick) => (format === formatDecimal ? String(tick) : format(tick))
  const drawn = [
    ...yTicks.map(
      (tick) =>
        `<path stroke="#ddd" d="M${left} ${toY(tick)}H${width - right}"/>${text(left - 8, toY(tick) + 4, nameY(tick), 'end')}`,
    ),
    ...xTicks.map((tick) => text(toX(tick), height - bottom + 18, nameX(tick), 'middle')),
    `<path stroke="#333" d="M${left} ${top}V${height - bottom}H${width - right}"/>`,
    band &&
      `<path fill="${COLORS[1]}" fill-opacity="0.15" d="M${trace(band.low, inside)}L${trace(band.high, inside.toReversed())}Z"/>`,
    ...marks
      .filter(({ at }) => at >= from && at <= to)
      .map(({ at }) => `<path stroke="#888" stroke-dasharray="3 3" d="M${toX(at)} ${top}V${height - bottom}"/>`),
    ...series.map((one) => `<path stroke="${colorOf(one)}" ${styleOf(one)} d="M${trace(one.values, inside)}"/>`),
    text(left, 22, subject ? `${title}, ${subject}` : title, 'start', 'font-size="15" font-weight="600"'),
    ...drawLegend(series.filter(({ faint }) => !faint)),
    text((left + width - right) / 2, height - 12, time ? 'time (UTC)' : xName, 'middle'),
    `<g transform="translate(16 ${(top + height - bottom) / 2}) rotate(-90)">${text(0, 0, log ? `${title}, log scale` : title, 'middle')}</g>`,
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="none"><rect width="${width}" height="${height}" fill="#fff"/>${drawn.filter(Boolean).join('\n')}</svg>\n`
}

function drawLegend(series) {
  let left = SIZE.left
  return series.map((one) => {
    const at = left
    left += 40 + 6.5 * one.name.length
    return `<path stroke="${colorOf(one)}" ${styleOf(one)} d="M${at} 40H${at + 20}"/>${text(at + 26, 44, one.name, 'start')}`
  })
}

const colorOf = ({ color }) => COLORS[color % COLORS.length]

function styleOf({ dashed, faint }) {
  return `stroke-width="${faint ? 1 : 2}"${faint ? ' stroke-opacity="0.3"' : ''}${dashed ? ' stroke-dasharray="6 4"' : ''}`
}

function text(x, y, content, anchor, more = '') {
  const safe = String(content).replace(/[&<>]/g, (sign) => `&#${sign.codePointAt(0)};`)
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="#111" ${more}>${safe}</text>`
}

/** The powers of ten on a logarithmic axis, or else its ends. */
function listPowers(low, high) {
  const powers = listTicks(low, high, { whole: true }).map((power) => 10 ** power)
  return powers.length > 1 ? powers : [low, high].map((end) => Number((10 ** end).toPrecision(2)))
}

/** The ends of an axis with round numbers at both. */
function widen(low, high) {
  if (!(low < high)) return Number.isFinite(low) ? [low - 0.5, low + 0.5] : [0, 1]
  const [first = low, second = high] = listTicks(low, high)
  const step = second - first
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step]
}

function round(value) {
  return Math.round(value * 10) / 10
}
