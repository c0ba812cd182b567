/** Scores as bars and differences on an axis, with their confidence intervals. */
import { formatInterval, isClear, placeInterval } from '../eval-facts.js'
import { compareByName, formatCount, formatDecimal, formatSigned } from '../format.js'
import { html } from '../html.js'
import { DataTable } from './table.js'

/** A bar for a value in [0, 1], with an optional interval from `low` to `high`. */
export function Bar({ value, low, high, label }) {
  const at = (x) => `${(100 * Math.min(1, Math.max(0, x))).toFixed(2)}%`
  return html`<span class="bar" role="img" aria-label=${label}>
    <i style=${{ width: at(value ?? 0) }}></i>
    ${low !== undefined && low !== null && html`<u style=${{ left: at(low), right: `calc(100% - ${at(high)})` }}></u>`}
  </span>`
}

/** `rows`: statistics by name. */
export function BarsTable({ rows, what }) {
  const sorted = Object.entries(rows).toSorted(
    ([a, x], [b, y]) => (y.mean_score ?? -1) - (x.mean_score ?? -1) || compareByName(a, b),
  )
  const drawBar = ([, figures]) => {
    const [low, high] = getInterval(figures)
    const span = low === null ? '' : `, from ${formatDecimal(low, 3)} to ${formatDecimal(high, 3)}`
    const label = `${formatDecimal(figures.mean_score, 3)}${span}`
    return html`<${Bar} value=${figures.mean_score} low=${low} high=${high} label=${label} />`
  }
  return html`<${DataTable} label="Mean scores" rows=${sorted} columns=${[
    [what, ([name]) => name],
    ['95% interval', drawBar, 'wide from-m'],
    ['score', ([, { mean_score }]) => formatDecimal(mean_score, 3), 'num'],
    ['lift', ([, { lift }]) => formatDecimal(lift, 3), 'num from-m'],
    ['samples', ([, { n }]) => formatCount(n), 'num'],
  ]} />`
}

function getInterval({ confidence_95, mean_score, stderr }) {
  if (confidence_95) return confidence_95
  if (stderr === null || stderr === undefined) return [null, null]
  return [Math.max(0, mean_score - 1.96 * stderr), Math.min(1, mean_score + 1.96 * stderr)]
}

/** A difference with its interval on an axis around 0. `limit`: the end of the axis. The numbers stand in the same row of the table, so the drawing is hidden from readers. */
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
