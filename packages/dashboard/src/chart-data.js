/** Prepares the series of charts: smoothing, comparison, and export as CSV. Needs no browser. */

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

/** `columns`: [{ name, values }]. An unknown value is an empty cell. */
export function toCsv(columns) {
  const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const rows = (columns[0]?.values ?? []).map((_, k) => columns.map(({ values }) => values[k] ?? '').join(','))
  return `${[columns.map(({ name }) => quote(name)).join(','), ...rows].join('\n')}\n`
}

function isKnown(value) {
  return value !== null && value !== undefined && Number.isFinite(value)
}
