/** A difference with its interval on an axis around 0, and that axis. */
import { formatSigned } from '../format.js'
import { html } from '../html.js'
import { formatInterval, isClear, placeInterval } from '../intervals.js'

/** `limit`: the end of the axis. The numbers stand in the same row of the table, so the drawing is hidden from readers. */
export function IntervalBar({ row, limit }) {
  const { at, from, to } = placeInterval(row, limit)
  const tone = isClear(row) ? (row.difference > 0 ? 'good' : 'bad') : ''
  return html`<span class=${`interval ${tone}`} aria-hidden="true" title=${`${formatSigned(row.difference)}, 95% interval ${formatInterval(row)}`}>
    ${from !== null && to !== null && html`<u style=${{ left: `${from}%`, right: `${100 - to}%` }}></u>`}
    ${at !== null && html`<i style=${{ left: `${at}%` }}></i>`}
  </span>`
}

export function IntervalAxis({ limit, low, high }) {
  return html`<span class="interval-axis">
    <span>${low} −${limit}</span><span>0</span><span>+${limit} ${high}</span>
  </span>`
}
