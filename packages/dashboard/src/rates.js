/** Counts the server's totals per minute, without extrapolating from seconds. */
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
