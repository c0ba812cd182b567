/** Prepares what charts, heat maps and histograms draw: smoothing, export as CSV, rates, rows and buckets. Needs no browser. */

/**
 * The exponential moving average of `values`, corrected for its start so that the first value counts in full.
 * `weight`: of the past, from 0 (no smoothing) to below 1. A gap stays a gap.
 */
export function smooth(values, weight) {
  if (weight === 0) return values
  let sum = 0
  let norm = 0
  return values.map((value) => {
    if (!Number.isFinite(value)) return null
    sum = weight * sum + (1 - weight) * value
    norm = weight * norm + (1 - weight)
    return sum / norm
  })
}

/** Whether two series show the same line, so that the second would hide the first. */
export function isSameLine(a, b) {
  return (
    a.length === b.length &&
    a.some(Number.isFinite) &&
    a.every((value, k) =>
      Number.isFinite(value) && Number.isFinite(b[k])
        ? Math.abs(value - b[k]) < 1e-6
        : !Number.isFinite(value) === !Number.isFinite(b[k]),
    )
  )
}

/** Whether a logarithmic axis can show all values. */
export function canBeLogarithmic(series) {
  const values = series.flatMap(({ values }) => values.filter(Number.isFinite))
  return values.length > 0 && values.every((value) => value > 0)
}

/** `columns`: [{ name, values }]. An unknown value is an empty cell. */
export function toCsv(columns) {
  const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const rows = (columns[0]?.values ?? []).map((_, k) => columns.map(({ values }) => values[k] ?? '').join(','))
  return `${[columns.map(({ name }) => quote(name)).join(','), ...rows].join('\n')}\n`
}

export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The `from` that returns the last row again, which may have grown, and all newer ones. */
export function getRefreshStart(rows) {
  const last = rows.at(-1)
  return last && (last.first_step ?? last.first_group)
}

/** The rows with the newer ones, or undefined if they do not continue them, as when the server made its rows wider. */
export function continueRows(rows, newer) {
  const [last, next] = [rows.at(-1), newer[0]]
  if (!last || !next || last.width !== next.width || getRefreshStart(rows) !== getRefreshStart([next])) return undefined
  return [...rows.slice(0, -1), ...newer]
}

const HISTORY_S = 3600
/** Interval of the points that the server stores. It bounds the points that an open page accumulates. */
const POINT_INTERVAL_S = 10
const MINUTE_S = 60

/** Converts a response of `GET /overview` to a chart point. */
export function toPoint({ at, queues, totals }) {
  const queued = queues.reduce((sum, { waiting, active, delayed }) => sum + waiting + active + delayed, 0)
  return { t: Date.parse(at) / 1000, queued, totals }
}

/** Appends `point`. Replaces the last point if it is less than `POINT_INTERVAL_S` after the one before it. */
export function appendPoint(points, point) {
  const [before, last] = [points.at(-2), points.at(-1)]
  const settled = before && last.t - before.t < POINT_INTERVAL_S ? points.slice(0, -1) : points
  return [...settled, point].filter(({ t }) => t > point.t - HISTORY_S)
}

/**
 * The count of each key in the minute before each point. Points without a whole minute before them are left out, unless there
 * are no others: then the counts are of `seconds`, the time that is known.
 */
export function computeRates(points, keys) {
  const x = []
  const values = Object.fromEntries(keys.map((key) => [key, []]))
  const known = points.length > 1 ? points.at(-1).t - points[0].t : 0
  let from = 0
  for (let k = 1; k < points.length; k++) {
    while (from < k - 1 && points[k].t - points[from + 1].t >= MINUTE_S) from++
    const s = points[k].t - points[from].t
    if (s <= 0 || (s < MINUTE_S && known >= MINUTE_S)) continue
    x.push(points[k].t)
    for (const key of keys) {
      const count = Math.max(0, points[k].totals[key] - points[from].totals[key])
      values[key].push(count * Math.min(1, MINUTE_S / s))
    }
  }
  return { x, values, seconds: Math.min(MINUTE_S, known) }
}

/**
 * The share of each bin in its column. `columns`: counts by bin for each column. Bins outside those that `reference`, the columns of
 * all strips to compare, uses are left out; `first` is the first bin that is shown.
 */
export function prepareStrip(columns, reference = columns) {
  const used = reference.flatMap((counts) => counts.flatMap((count, bin) => (count > 0 ? [bin] : [])))
  if (used.length === 0) return { first: 0, bins: 0, shares: [] }
  const first = used.reduce((a, b) => Math.min(a, b))
  const bins = used.reduce((a, b) => Math.max(a, b)) - first + 1
  const shares = columns.map((counts) => {
    const total = counts.reduce((sum, count) => sum + count, 0)
    return Array.from({ length: bins }, (_, k) => (total === 0 ? 0 : (counts[first + k] ?? 0) / total))
  })
  return { first, bins, shares }
}

const BUCKETS = 12

/**
 * Mean score by difficulty of the first and of the second half of `points`: two lists of { difficulty, score, groups }, easiest first. The
 * history has the difficulty after a group; a group’s own is that of its item or else the one after the group before it.
 */
export function bucketByDifficulty(points) {
  const groups = points.flatMap(({ score, item }, k) => {
    const difficulty = item?.difficulty ?? points[k - 1]?.difficulty
    return difficulty === undefined ? [] : [{ score, difficulty }]
  })
  const half = Math.floor(groups.length / 2)
  return [groups.slice(0, half), groups.slice(half)].map((part) =>
    [...Map.groupBy(part, ({ difficulty }) => Math.round(difficulty * BUCKETS))]
      .map(([, members]) => ({
        difficulty: mean(members.map((member) => member.difficulty)),
        score: mean(members.map((member) => member.score)),
        groups: members.length,
      }))
      .toSorted((a, b) => a.difficulty - b.difficulty),
  )
}
