/** Converts the server's totals of the last hour to rates per minute. */
const WINDOW_S = 3600
/** Interval of the points that the server stores. It bounds the points that an open page accumulates. */
const POINT_INTERVAL_S = 10
const RATE_WINDOW_S = 10

/** Converts a response of `GET /overview` to a chart point. */
export function toPoint({ at, queues, totals }) {
  const queued = queues.reduce((sum, { waiting, active, delayed }) => sum + waiting + active + delayed, 0)
  return { t: Date.parse(at) / 1000, queued, totals }
}

/** Appends `point`. Replaces the last point if it is less than `POINT_INTERVAL_S` after the one before it. */
export function appendPoint(points, point) {
  const [before, last] = [points.at(-2), points.at(-1)]
  const settled = before && last.t - before.t < POINT_INTERVAL_S ? points.slice(0, -1) : points
  return [...settled, point].filter(({ t }) => t > point.t - WINDOW_S)
}

/** The rate per minute of each key, over the last ten seconds or the available time. */
export function computeRates(points, keys) {
  const x = []
  const values = Object.fromEntries(keys.map((key) => [key, []]))
  let from = 0
  for (let k = 1; k < points.length; k++) {
    while (from < k - 1 && points[k].t - points[from + 1].t >= RATE_WINDOW_S) from++
    const s = points[k].t - points[from].t
    if (s <= 0) continue
    x.push(points[k].t)
    for (const key of keys) values[key].push((60 * Math.max(0, points[k].totals[key] - points[from].totals[key])) / s)
  }
  return { x, values }
}
