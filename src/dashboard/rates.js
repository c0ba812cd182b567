/** The server's totals over the last hour, and what they come to in a minute. */
const WINDOW_S = 3600
/** As far apart as the points that the server remembers: a page that is open for long keeps no more than these. */
const POINT_INTERVAL_S = 10
const RATE_WINDOW_S = 10

/** What GET /overview tells, as a point of the charts. */
export function toPoint({ at, queues, totals }) {
  const queued = queues.reduce((sum, { waiting, active, delayed }) => sum + waiting + active + delayed, 0)
  return { t: Date.parse(at) / 1000, queued, totals }
}

/** With `point` at the end; the one before gives way if it is no further from its own neighbour than need be. */
export function appendPoint(points, point) {
  const [before, last] = [points.at(-2), points.at(-1)]
  const settled = before && last.t - before.t < POINT_INTERVAL_S ? points.slice(0, -1) : points
  return [...settled, point].filter(({ t }) => t > point.t - WINDOW_S)
}

/** Of each of `keys` a minute, over the last ten seconds or what there is. */
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
