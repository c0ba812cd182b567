/** The comparison of two evals on the same items: their difference and its significance. */

import { useResource } from '../data-hooks.js'
import { compareByName, formatCount, formatDecimal, formatSigned, humanize, pluralize } from '../format.js'
import { html } from '../html.js'
import { Chip, EmptyState, ErrorMessage, Loading, PageHeader, Panel, StatTiles, StatusBanner } from '../parts/common.js'
import { Table } from '../parts/table.js'

export function ComparePage({ a, b }) {
  const both = a !== '' && b !== ''
  const { value, problem } = useResource(
    both ? `eval/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}` : null,
  )
  const title = html`<${PageHeader} title="Comparison of two evals"><a class="end" href="#/evals">All evals</a><//>`
  if (!both)
    return html`${title}<${Panel}><${EmptyState}>Select two evals in the <a href="#/evals">list of evals</a> to compare them.<//><//>`
  if (problem) return html`${title}<${ErrorMessage} problem=${problem} />`
  if (!value) return html`${title}<${Loading} />`
  return html`
    ${title}
    <${StatusBanner} tone=${getTone(value)} is=${getConclusion(value)} why=${formatConclusion(value)} />
    <${StatTiles}
      tiles=${[
        [
          html`<a href=${`#/evals/${value.a.id}`}>a: ${value.a.id}</a>`,
          formatDecimal(value.a.mean_score, 3),
          `lift ${formatDecimal(value.a.lift, 3)}`,
        ],
        [
          html`<a href=${`#/evals/${value.b.id}`}>b: ${value.b.id}</a>`,
          formatDecimal(value.b.mean_score, 3),
          `lift ${formatDecimal(value.b.lift, 3)}`,
        ],
        ['Difference', formatSigned(value.difference), `${pluralize(value.n, 'item')} of suite ${value.suite.name}`],
        [
          'Detectable difference',
          formatDecimal(value.smallest_detectable, 3),
          'minimum for these items, with 80% power',
        ],
      ]}
    />
    <${Panel} title="Results by task" about="The mean difference between the scores of a and b on the same items. A mark means that the difference is significant after correction for the number of tasks.">
      <${Tasks} tasks=${value.tasks} />
    <//>
  `
}

function Tasks({ tasks }) {
  const sorted = Object.entries(tasks).toSorted(
    ([one, x], [other, y]) => (y.difference ?? 0) - (x.difference ?? 0) || compareByName(one, other),
  )
  return html`<${Table} label="Results by task">
    <thead>
      <tr>
        <th>task</th>
        <th class="num">difference</th>
        <th class="num">95% interval</th>
        <th class="num">p (corrected)</th>
        <th class="num">lift difference</th>
        <th class="num">items</th>
      </tr>
    </thead>
    <tbody>
      ${sorted.map(
        ([name, row]) => html`<tr>
          <th scope="row">${humanize(name)} ${row.significant && html`<${Chip} tone=${getTone(row)}>${row.difference > 0 ? 'better' : 'worse'}<//>`}</th>
          <td class="num">${formatSigned(row.difference)}</td>
          <td class="num">${row.confidence_95 ? `${formatSigned(row.confidence_95[0])} to ${formatSigned(row.confidence_95[1])}` : '–'}</td>
          <td class="num">${row.verdict === 'too_few_items' ? html`<span class="soft">too few items</span>` : formatDecimal(row.p_corrected, 3)}</td>
          <td class="num">${formatSigned(row.lift_difference)}</td>
          <td class="num">${formatCount(row.n)}</td>
        </tr>`,
      )}
    </tbody>
  <//>`
}

function isInsignificant({ confidence_95: bounds }) {
  return !bounds || (bounds[0] <= 0 && bounds[1] >= 0)
}

function getTone(row) {
  return isInsignificant(row) ? '' : row.difference > 0 ? 'good' : 'bad'
}

function getConclusion(row) {
  return isInsignificant(row) ? 'no clear difference' : row.difference > 0 ? 'a is better' : 'a is worse'
}

function formatConclusion({ confidence_95: bounds, difference }) {
  if (!bounds) return 'Too few items have a score in both evals for a confidence interval'
  return `The mean score of a minus that of b is ${formatSigned(difference)} (95% confidence interval: ${formatSigned(bounds[0])} to ${formatSigned(bounds[1])})`
}
