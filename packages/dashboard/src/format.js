/** Formats numbers and times for display. */
const EMPTY_VALUE = '–'

/** 0.5 → 0.50, 1234567 → 1,234,567 */
export function formatCount(x) {
  return Number.isFinite(x) ? Math.round(x).toLocaleString('en') : EMPTY_VALUE
}

export function formatCompact(x) {
  return Number.isFinite(x)
    ? new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(x)
    : EMPTY_VALUE
}

export function formatDecimal(x, digits = 2) {
  return Number.isFinite(x) ? x.toFixed(digits).replace('-', '−') : EMPTY_VALUE
}

export function formatPercent(x, digits = 0) {
  return Number.isFinite(x) ? `${(100 * x).toFixed(digits)}%` : EMPTY_VALUE
}

export function formatBytes(x) {
  if (!Number.isFinite(x)) return EMPTY_VALUE
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const k = x < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(x) / 3))
  return `${(x / 1000 ** k).toFixed(k > 0 && x / 1000 ** k < 10 ? 1 : 0)} ${units[k]}`
}

export function formatDuration(x) {
  if (!Number.isFinite(x)) return EMPTY_VALUE
  if (x < 0.001) return `${(x * 1e6).toFixed(0)} µs`
  if (x < 1) return `${(x * 1000).toFixed(x < 0.01 ? 1 : 0)} ms`
  if (x < 90) return `${x.toFixed(x < 10 ? 1 : 0)} s`
  if (x < 5400) return `${(x / 60).toFixed(0)} min`
  return x < 129_600 ? `${(x / 3600).toFixed(0)} h` : `${(x / 86_400).toFixed(0)} days`
}

/** The time since `then` (milliseconds since 1970), in whole seconds at least, because it counts up on the page. */
export function formatElapsed(then) {
  const s = Math.max(1, Math.round((Date.now() - then) / 1000))
  return s < 10 ? `${s} s` : formatDuration(s)
}

export function formatTimeAgo(then) {
  return `${formatElapsed(then)} ago`
}

/** Date, time and time zone. */
export function formatDateTime(then) {
  return new Date(then).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'long' })
}

/** 1, 'group' → 1 group; 2, 'group' → 2 groups */
export function pluralize(x, name) {
  return `${formatCount(x)} ${name}${x === 1 ? '' : 's'}`
}

export function formatTime(time) {
  return new Date(time).toLocaleTimeString('en-GB')
}

/** no_answer → no answer */
export function humanize(name) {
  return String(name).replaceAll('_', ' ')
}

export function toSentence(text) {
  const trimmed = String(text).trim()
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`
}

export function compareByName(a, b) {
  return a < b ? -1 : 1
}

/** A difference, with a plus or minus sign. */
export function formatSigned(x) {
  return x > 0 ? `+${formatDecimal(x, 3)}` : formatDecimal(x, 3)
}

/** The ends of an interval. */
export function formatRange(bounds, digits = 3) {
  return bounds ? `${formatDecimal(bounds[0], digits)} to ${formatDecimal(bounds[1], digits)}` : EMPTY_VALUE
}
