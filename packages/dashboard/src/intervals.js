/** Differences with their intervals: where they are on an axis around 0, and what they say in words. */
import { formatDecimal, formatSigned } from './format.js'

const LIMITS = [0.05, 0.1, 0.2, 0.5, 1]

/** The end of an axis around 0 on which all rows fit. Scores are in [0, 1], so no difference is beyond 1. */
export function chooseLimit(rows) {
  const most = rows.reduce((max, { difference, confidence_95 }) => {
    const ends = [difference ?? 0, ...(confidence_95 ?? [])].map(Math.abs)
    return Math.max(max, ...ends)
  }, 0)
  return LIMITS.find((limit) => limit >= Math.min(1, most)) ?? 1
}

/** Places on the axis in percent: of the difference, and of the ends of its interval, null if there is none. */
export function placeInterval({ difference, confidence_95 }, limit) {
  const place = (value) => 50 + 50 * Math.min(1, Math.max(-1, value / limit))
  if (difference === null || difference === undefined) return { at: null, from: null, to: null }
  const [low, high] = confidence_95 ?? []
  return {
    at: place(difference),
    from: low === undefined ? null : place(low),
    to: high === undefined ? null : place(high),
  }
}

/** Whether the interval excludes 0. */
export function isClear({ confidence_95: bounds }) {
  return Boolean(bounds) && (bounds[0] > 0 || bounds[1] < 0)
}

export function formatInterval({ confidence_95: bounds }) {
  return bounds ? `${formatSigned(bounds[0])} to ${formatSigned(bounds[1])}` : 'too few items'
}

/** p-values near 0 and 1 look like errors if they are rounded to 0.000 and 1.000. */
export function formatP(p) {
  if (p === null || p === undefined) return 'too few items'
  if (p < 0.001) return '< 0.001'
  return p > 0.999 ? '1' : formatDecimal(p, 3)
}
