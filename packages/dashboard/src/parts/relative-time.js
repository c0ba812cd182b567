/** A time as how long ago it was. It updates itself; its tooltip shows the date and time zone. */
import { formatDateTime, formatTimeAgo } from '../format.js'
import { useInterval } from '../hooks.js'
import { html, useState } from '../html.js'

const REFRESH_INTERVAL_MS = 5000

/** `at`: ISO 8601, or milliseconds since 1970. */
export function RelativeTime({ at, format = formatTimeAgo }) {
  const [, turn] = useState(0)
  useInterval(REFRESH_INTERVAL_MS, () => turn((round) => round + 1))
  const then = typeof at === 'number' ? at : Date.parse(at)
  if (!Number.isFinite(then)) return '–'
  return html`<time dateTime=${new Date(then).toISOString()} title=${formatDateTime(then)}>${format(then)}</time>`
}
