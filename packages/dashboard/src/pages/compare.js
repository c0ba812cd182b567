/** The comparison of two evals on the same items: what differs, how surely, by task, and on which items. */

import { useResource } from '../data-hooks.js'
import { listLabels, modelName } from '../eval-facts.js'
import { formatCount, formatDecimal, formatSigned, pluralize } from '../format.js'
import { setQuery, useQueryField } from '../hooks.js'
import { html } from '../html.js'
import { chooseLimit, formatInterval, formatP, isClear } from '../intervals.js'
import { Chip, EmptyState, ErrorMessage, Loading, PageHeader, Panel, StatTiles, StatusBanner } from '../parts/common.js'
import { FlipsPanel } from '../parts/flips-panel.js'
import { IntervalAxis, IntervalBar } from '../parts/interval-bar.js'
import { RelativeTime } from '../parts/relative-time.js'
import { SortHead } from '../parts/sort-head.js'
import { Table } from '../parts/table.js'
import { sortRows } from '../sorting.js'

export function ComparePage({ a, b }) {
  const both = a !== '' && b !== ''
  const { value, problem } = useResource(
    both ? `eval/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}` : null,
  )
  if (!value) {
    return html`<${PageHeader} title="Comparison of two evals"><a class="end" href="#/evals">All evals</a><//>
      ${!both && html`<${Panel}><${EmptyState}>Select two evals in the <a href="#/evals">list of evals</a> to compare them.<//><//>`}
      ${problem && html`<${ErrorMessage} problem=${problem} />`}
      ${both && !problem && html`<${Loading} />`}`
  }
  const names = nameEvals(value)
  return html`
    <${PageHeader} title=${`${names.a} vs. ${names.b}`} about=${`Two evals on ${pluralize(value.n, 'item')} of the suite ${value.suite.name}, compared item by item.`}>
      <span class="end">
        <button type="button" onClick=${() => setQuery({ a: b, b: a })}>Swap</button> <a href="#/evals">All evals</a>
      </span>
    <//>
    <${StatusBanner} tone=${getTone(value)} is=${getConclusion(value, names)} why=${explain(value, names)} />
    <${Panel} title="The two evals"><${Sides} value=${value} /><//>
    <${StatTiles}
      tiles=${[
        [
          'Difference',
          formatSigned(value.difference),
          value.confidence_95 ? `95% interval: ${formatInterval(value)}` : 'too few items for an interval',
        ],
        ['Lift difference', formatSigned(value.lift_difference), 'corrected for guessing'],
        [`Only ${names.a} is right`, formatCount(value.only_a_right), `of ${pluralize(value.n, 'item')}`],
        [`Only ${names.b} is right`, formatCount(value.only_b_right), `of ${pluralize(value.n, 'item')}`],
        [
          'Detectable difference',
          formatDecimal(value.smallest_detectable, 3),
          value.smallest_detectable === null
            ? 'unknown: too few items differ'
            : 'minimum for these items, with 80% power',
        ],
      ]}
    />
    <${Panel} title="Results by task" about=${`Mean score of ${names.a} minus that of ${names.b} on the same items, with its 95% interval. Marked tasks are significant after correction for the number of tasks.`}>
      <${Tasks} value=${value} names=${names} />
    <//>
    <${FlipsPanel} value=${value} names=${names} />
  `
}

/** Short names that tell the evals apart: the models if they differ, or else the steps, or else a and b. */
function nameEvals({ a, b }) {
  const [x, y] = [modelName(a), modelName(b)]
  if (x !== y) return { a: x, b: y }
  if (a.step !== b.step && a.step !== null && b.step !== null)
    return { a: `step ${formatCount(a.step)}`, b: `step ${formatCount(b.step)}` }
  return { a: `${x} (a)`, b: `${y} (b)` }
}

function Sides({ value }) {
  return html`<${Table} label="The two evals">
    <thead>
      <tr><th>eval</th><th>model</th><th class="from-l">labels</th><th class="from-m">run</th><th class="num from-m">step</th><th class="from-m">created</th><th class="num">mean score</th><th class="num from-l">lift</th></tr>
    </thead>
    <tbody>
      ${[value.a, value.b].map(
        (side) => html`<tr>
          <th scope="row" class="name"><a href=${`#/evals/${side.id}`}>${side.id}</a><small class="until-m"><${RelativeTime} at=${side.created_at} />${side.step !== null && `, step ${formatCount(side.step)}`}</small></th>
          <td class="name">${modelName(side)}</td>
          <td class="from-l">${listLabels(side).map((label) => html`<${Chip}>${label}<//> `)}</td>
          <td class="name from-m">${side.run === null ? '–' : html`<a href=${`#/runs/${encodeURIComponent(side.run)}`}>${side.run}</a>`}</td>
          <td class="num from-m">${formatCount(side.step)}</td>
          <td class="from-m"><${RelativeTime} at=${side.created_at} /></td>
          <td class="num">${formatDecimal(side.mean_score, 3)}</td>
          <td class="num from-l">${formatDecimal(side.lift, 3)}</td>
        </tr>`,
      )}
    </tbody>
  <//>`
}

const COLUMNS = {
  task: ([name]) => name,
  difference: ([, row]) => row.difference,
  p: ([, row]) => (row.p_corrected === null ? null : -row.p_corrected),
  flips: ([, row]) => row.only_a_right + row.only_b_right,
  items: ([, row]) => row.n,
}

function Tasks({ value, names }) {
  const [order, setOrder] = useQueryField('sort', 'difference')
  const rows = sortRows(Object.entries(value.tasks), { ...COLUMNS }, order)
  const limit = chooseLimit([value, ...Object.values(value.tasks)])
  const head = { order, onOrder: setOrder }
  return html`<${Table} label="Results by task">
    <thead>
      <tr>
        <${SortHead} name="task" up ...${head}>task<//>
        <th class="wide"><${IntervalAxis} limit=${limit} low=${`${names.b} better`} high=${`${names.a} better`} /></th>
        <${SortHead} name="difference" class="num" ...${head}>difference<//>
        <th class="num from-l">95% interval</th>
        <${SortHead} name="p" class="num from-l" ...${head}>p (corrected)<//>
        <${SortHead} name="flips" class="num from-m" ...${head}>flips<//>
        <${SortHead} name="items" class="num from-m" ...${head}>items<//>
      </tr>
    </thead>
    <tbody>
      <${TaskRow} name="all tasks" row=${value} p=${value.p} limit=${limit} />
      ${rows.map(([name, row]) => html`<${TaskRow} key=${name} name=${name} task=${name} row=${row} p=${row.p_corrected} limit=${limit} />`)}
    </tbody>
  <//>`
}

function TaskRow({ name, task, row, p, limit }) {
  const flips = row.only_a_right + row.only_b_right
  return html`<tr class=${task ? null : 'total'}>
    <th scope="row" class="name">${name} ${row.significant && html`<${Chip} tone=${getTone(row)}>${row.difference > 0 ? 'better' : 'worse'}<//>`}</th>
    <td class="wide"><${IntervalBar} row=${row} limit=${limit} /></td>
    <td class="num">${formatSigned(row.difference)}</td>
    <td class="num from-l">${row.confidence_95 ? formatInterval(row) : html`<span class="soft">too few items</span>`}</td>
    <td class="num from-l">${p === null ? html`<span class="soft">–</span>` : formatP(p)}</td>
    <td class="num from-m">${flips > 0 && task ? html`<button type="button" class="sort link" aria-label=${`${pluralize(flips, 'item')} of ${task} that flipped`} onClick=${() => showFlips(task)}>${formatCount(flips)}</button>` : formatCount(flips)}</td>
    <td class="num from-m">${formatCount(row.n)}</td>
  </tr>`
}

function showFlips(task) {
  setQuery({ task, right: '' })
  document.querySelector('[aria-label="Items that flipped"]')?.scrollIntoView({ block: 'start' })
}

function getTone(row) {
  return isClear(row) ? (row.difference > 0 ? 'good' : 'bad') : ''
}

function getConclusion(value, names) {
  if (!value.confidence_95) return 'too few items'
  if (!isClear(value)) return 'no clear difference'
  return `${value.difference > 0 ? names.a : names.b} is better`
}

function explain(value, names) {
  if (!value.confidence_95)
    return 'Fewer than six items have a score in both evals. That is too few to tell the models apart'
  const interval = `95% confidence interval: ${formatInterval(value)}`
  if (!isClear(value))
    return `The mean score of ${names.a} minus that of ${names.b} is ${formatSigned(value.difference)} (${interval}), so either could be better`
  return `The mean score of ${names.a} minus that of ${names.b} is ${formatSigned(value.difference)} (${interval})`
}
