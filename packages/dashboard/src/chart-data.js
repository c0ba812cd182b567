/** Prepares the series of charts: smoothing, comparison, ranges, and export as CSV and SVG. Needs no browser. */

/**
 * The exponential moving average of `values`, corrected for its start so that the first value counts in full.
 * `weight`: of the past, from 0 (no smoothing) to below 1. A gap stays a gap.
 */
export function smooth(values, weight) {
  if (weight === 0) return values
  let sum = 0
  let norm = 0
  return values.map((value) => {
    if (!isKnown(value)) return null
    sum = weight * sum + (1 - weight) * value
    norm = weight * norm + (1 - weight)
    return sum / norm
  })
}

/** Whether two series show the same line, so that the second would hide the first. */
export function isSameLine(a, b) {
  return (
    a.length === b.length &&
    a.some(isKnown) &&
    a.every((value, k) =>
      isKnown(value) && isKnown(b[k]) ? Math.abs(value - b[k]) < 1e-6 : !isKnown(value) === !isKnown(b[k]),
    )
  )
}

/** Whether a logarithmic axis can show all values. */
export function canBeLogarithmic(series) {
  const values = series.flatMap(({ values }) => values.filter(isKnown))
  return values.length > 0 && values.every((value) => value > 0)
}

/** The indexes of the first and last `x` inside `zoom`, or of all. */
export function findRange(x, zoom) {
  if (!zoom) return [0, x.length - 1]
  const first = x.findIndex((value) => value >= zoom[0])
  return [first < 0 ? x.length : first, x.findLastIndex((value) => value <= zoom[1])]
}

/** `columns`: [{ name, values }]. An unknown value is an empty cell. */
export function toCsv(columns) {
  const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const rows = (columns[0]?.values ?? []).map((_, k) => columns.map(({ values }) => values[k] ?? '').join(','))
  return `${[columns.map(({ name }) => quote(name)).join(','), ...rows].join('\n')}\n`
}

const SIZE = { width: 720, height: 320, left: 56, right: 16, top: 56, bottom: 32 }

/**
 * The chart as a standalone SVG document. `series`: [{ name, values, color, dashed?, faint? }]; `colors`: { ink, soft, line, ground };
 * `formatX` and `formatY` write the labels of the axes.
 */
export function toSvg({ title, x, series, colors, log = false, zoom, range, formatX, formatY }) {
  const { width, height, left, right, top, bottom } = SIZE
  const [first, last] = findRange(x, zoom)
  const [xLow, xHigh] = zoom ?? [x[0], x.at(-1)]
  const shown = series.flatMap(({ values }) =>
    values.slice(first, last + 1).filter((value) => isKnown(value) && (!log || value > 0)),
  )
  const scale = log ? Math.log10 : (value) => value
  const limits = log || !range ? shown : [...shown, ...range]
  const yLow = scale(Math.min(...limits))
  const yHigh = Math.max(scale(Math.max(...limits)), yLow + 1e-9)
  const toX = (value) => left + ((value - xLow) / (xHigh - xLow || 1)) * (width - left - right)
  const toY = (value) => height - bottom - ((scale(value) - yLow) / (yHigh - yLow)) * (height - top - bottom)
  const ticks = Array.from({ length: 5 }, (_, k) => k / 4)
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="${colors.ground}"/>`,
    `<text x="${left}" y="22" font-size="15" font-weight="600" fill="${colors.ink}">${escapeXml(title)}</text>`,
  ]
  let at = left
  for (const { name, color, faint } of series) {
    if (faint) continue
    lines.push(
      `<rect x="${at}" y="35" width="12" height="3" fill="${color}"/><text x="${at + 17}" y="41" fill="${colors.soft}">${escapeXml(name)}</text>`,
    )
    at += 36 + name.length * 6.5
  }
  for (const tick of ticks) {
    const value = yLow + tick * (yHigh - yLow)
    const y = round(height - bottom - tick * (height - top - bottom))
    lines.push(
      `<path d="M${left} ${y}H${width - right}" stroke="${colors.line}"/><text x="${left - 8}" y="${y + 4}" text-anchor="end" fill="${colors.soft}">${escapeXml(formatY(log ? 10 ** value : value))}</text>`,
    )
    const stop = xLow + tick * (xHigh - xLow)
    lines.push(
      `<text x="${round(toX(stop))}" y="${height - 10}" text-anchor="middle" fill="${colors.soft}">${escapeXml(formatX(stop))}</text>`,
    )
  }
  for (const { values, color, dashed, faint } of series) {
    const path = values
      .slice(first, last + 1)
      .flatMap((value, k) =>
        isKnown(value) && (!log || value > 0) ? [`${round(toX(x[first + k]))} ${round(toY(value))}`] : [],
      )
    if (path.length > 0)
      lines.push(
        `<path d="M${path.join('L')}" fill="none" stroke="${color}" stroke-width="1.6"${dashed ? ' stroke-dasharray="5 4"' : ''}${faint ? ' opacity="0.25"' : ''}/>`,
      )
  }
  return `${[...lines, '</svg>'].join('\n')}\n`
}

function isKnown(value) {
  return value !== null && value !== undefined && Number.isFinite(value)
}

function round(value) {
  return Math.round(value * 10) / 10
}

function escapeXml(text) {
  return String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
