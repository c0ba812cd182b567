/** A moment, told by how long ago it was: it keeps counting, and its title has the day and the zone. */
import { ago, moment } from '../format.js'
import { useEvery } from '../hooks.js'
import { html, useState } from '../html.js'

const EVERY_MS = 5000

/** `at`: ISO 8601, or milliseconds since 1970. */
export function Time({ at, format = ago }) {
  const [, turn] = useState(0)
  useEvery(EVERY_MS, () => turn((round) => round + 1))
  const then = typeof at === 'number' ? at : Date.parse(at)
  if (!Number.isFinite(then)) return '–'
  return html`<time dateTime=${new Date(then).toISOString()} title=${moment(then)}>${format(then)}</time>`
}
