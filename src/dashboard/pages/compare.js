/** Two evals of the same items: how much they differ, and whether that is more than chance. */

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
  const title = html`<${PageHeader} title="Two evals compared"><a class="end" href="#/evals">All evals</a><//>`
  if (!both)
    return html`${title}<${Panel}><${EmptyState}>Pick two in the <a href="#/evals">list of evals</a> to compare them.<//><//>`
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
        ['Least that would show', formatDecimal(value.smallest_detectable, 3), 'with these items, four times in five'],
      ]}
    />
    <${Panel} title="Task by task" about="How much a is better than b, item by item. What is marked stands out even though so many tasks are looked at.">
      <${Tasks} tasks=${value.tasks} />
    <//>
  `
}

function Tasks({ tasks }) {
  const sorted = Object.entries(tasks).toSorted(
    ([one, x], [other, y]) => (y.difference ?? 0) - (x.difference ?? 0) || compareByName(one, other),
  )
  return html`<${Table} label="Task by task">
    <thead>
      <tr>
        <th>task</th>
        <th class="num">difference</th>
        <th class="num">95 %</th>
        <th class="num">p, corrected</th>
        <th class="num">lift</th>
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
  if (!bounds) return 'There are too few items with a score in both to say more'
  return `a’s mean score less b’s is ${formatSigned(difference)}, with 95 % confidence between ${formatSigned(bounds[0])} and ${formatSigned(bounds[1])}`
}
