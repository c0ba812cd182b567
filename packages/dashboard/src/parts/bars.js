/** A table of mean scores as bars with confidence intervals. */
import { formatCount, formatDecimal } from '../format.js'
import { html } from '../html.js'
import { Table } from './table.js'

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
    ([a, x], [b, y]) => (y.mean_score ?? -1) - (x.mean_score ?? -1) || (a < b ? -1 : 1),
  )
  return html`<${Table} label="Mean scores">
      <thead><tr><th>${what}</th><th class="from-m">95% interval</th><th class="num">score</th><th class="num from-m">lift</th><th class="num">samples</th></tr></thead>
      <tbody>
        ${sorted.map(([name, figures]) => {
          const [low, high] = getInterval(figures)
          return html`<tr>
            <th scope="row">${name}</th>
            <td class="wide from-m"><${Bar} value=${figures.mean_score} low=${low} high=${high} label=${`${formatDecimal(figures.mean_score, 3)}${low === null ? '' : `, from ${formatDecimal(low, 3)} to ${formatDecimal(high, 3)}`}`} /></td>
            <td class="num">${formatDecimal(figures.mean_score, 3)}</td>
            <td class="num from-m">${formatDecimal(figures.lift, 3)}</td>
            <td class="num">${formatCount(figures.n)}</td>
          </tr>`
        })}
      </tbody>
    <//>`
}

function getInterval({ confidence_95, mean_score, stderr }) {
  if (confidence_95) return confidence_95
  if (stderr === null || stderr === undefined) return [null, null]
  return [Math.max(0, mean_score - 1.96 * stderr), Math.min(1, mean_score + 1.96 * stderr)]
}
