/** The comparison of two evals on the same items: what differs, how surely, by task, and on which items. */

import { useResource } from '../data-hooks.js'
import { chooseLimit, countFlips, formatInterval, formatP, isClear, listLabels, modelName } from '../eval-facts.js'
import { formatCount, formatDecimal, formatSigned, pluralize } from '../format.js'
import { setQuery, useQueryField } from '../hooks.js'
import { html } from '../html.js'
import { IntervalAxis, IntervalBar } from '../parts/bars.js'
import {
  Chip,
  EmptyState,
  PageHeader,
  Panel,
  RelativeTime,
  ResourceState,
  StatTiles,
  StatusBanner,
  Tile,
} from '../parts/common.js'
import { FlipsPanel } from '../parts/flips-panel.js'
import { DataTable } from '../parts/table.js'
import { sortRows } from '../sorting.js'

export function ComparePage({ a, b }) {
  const both = a !== '' && b !== ''
  const { value, problem } = useResource(
    both ? `eval/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}` : null,
  )
  if (!value) {
    return html`<${PageHeader} title="Comparison of two evals"><a class="end" href="#/evals">All evals</a><//>
      ${!both && html`<${Panel}><${EmptyState}>Select two evals in the <a href="#/evals">list of evals</a> to compare them.<//><//>`}
      ${both && html`<${ResourceState} problem=${problem} />`}`
  }
  const names = nameEvals(value)
  const { smallest_detectable: detectable } = value
  return html`
    <${PageHeader} title=${`${names.a} vs. ${names.b}`} about=${`Two evals on ${pluralize(value.n, 'item')} of the suite ${value.suite.name}, compared item by item.`}>
      <span class="end">
        <button type="button" onClick=${() => setQuery({ a: b, b: a })}>Swap</button> <a href="#/evals">All evals</a>
      </span>
    <//>
    <${StatusBanner} tone=${getTone(value)} is=${getConclusion(value, names)} why=${explain(value, names)} />
    <${Panel} title="The two evals"><${DataTable} label="The two evals" rows=${[value.a, value.b]} columns=${SIDE_COLUMNS} /><//>
    <${StatTiles}>
      <${Tile} name="Difference" value=${formatSigned(value.difference)} note=${value.confidence_95 ? `95% interval: ${formatInterval(value)}` : 'too few items for an interval'} />
      <${Tile} name="Lift difference" value=${formatSigned(value.lift_difference)} note="corrected for guessing" />
      <${Tile} name=${`Only ${names.a} is right`} value=${formatCount(value.only_a_right)} note=${`of ${pluralize(value.n, 'item')}`} />
      <${Tile} name=${`Only ${names.b} is right`} value=${formatCount(value.only_b_right)} note=${`of ${pluralize(value.n, 'item')}`} />
      <${Tile} name="Detectable difference" value=${formatDecimal(detectable, 3)} note=${detectable === null ? 'unknown: too few items differ' : 'minimum for these items, with 80% power'} />
    <//>
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

const SIDE_COLUMNS = [
  ['eval', drawEval, 'name'],
  ['model', modelName, 'name'],
  ['labels', (side) => listLabels(side).map((label) => html`<${Chip}>${label}<//> `), 'from-l'],
  ['run', drawRun, 'name from-m'],
  ['step', ({ step }) => formatCount(step), 'num from-m'],
  ['created', ({ created_at: at }) => html`<${RelativeTime} at=${at} />`, 'from-m'],
  ['mean score', ({ mean_score }) => formatDecimal(mean_score, 3), 'num'],
  ['lift', ({ lift }) => formatDecimal(lift, 3), 'num from-l'],
]

function drawEval({ id, created_at, step }) {
  return html`<a href=${`#/evals/${id}`}>${id}</a><small class="until-m"><${RelativeTime} at=${created_at} />${step !== null && `, step ${formatCount(step)}`}</small>`
}

function drawRun({ run }) {
  return run === null ? '–' : html`<a href=${`#/runs/${encodeURIComponent(run)}`}>${run}</a>`
}

const COLUMNS = {
  task: ([name]) => name,
  difference: ([, row]) => row.difference,
  p: ([, row]) => (row.p_corrected === null ? null : -row.p_corrected),
  flips: ([, row]) => countFlips(row),
  items: ([, row]) => row.n,
}

function Tasks({ value, names }) {
  const [order, setOrder] = useQueryField('sort', 'difference')
  const rows = sortRows(Object.entries(value.tasks), COLUMNS, order)
  const limit = chooseLimit([value, ...Object.values(value.tasks)])
  const axis = html`<${IntervalAxis} limit=${limit} low=${`${names.b} better`} high=${`${names.a} better`} />`
  const columns = [
    ['task', drawTask, 'name', { name: 'task', up: true }],
    [axis, ([, row]) => html`<${IntervalBar} row=${row} limit=${limit} />`, 'wide'],
    ['difference', ([, row]) => formatSigned(row.difference), 'num', { name: 'difference' }],
    ['95% interval', drawInterval, 'num from-l'],
    ['p (corrected)', drawP, 'num from-l', { name: 'p' }],
    ['flips', drawFlips, 'num from-m', { name: 'flips' }],
    ['items', ([, row]) => formatCount(row.n), 'num from-m', { name: 'items' }],
  ]
  const all = ['all tasks', { ...value, p_corrected: value.p }, 'total']
  return html`<${DataTable} label="Results by task" rows=${[all, ...rows]} columns=${columns} order=${order} onOrder=${setOrder}
    getProps=${([name, , kind]) => ({ key: name, class: kind ?? null })} />`
}

function drawTask([name, row]) {
  return html`${name} ${row.significant && html`<${Chip} tone=${getTone(row)}>${row.difference > 0 ? 'better' : 'worse'}<//>`}`
}

function drawInterval([, row]) {
  return row.confidence_95 ? formatInterval(row) : html`<span class="soft">too few items</span>`
}

function drawP([, { p_corrected: p }]) {
  return p === null ? html`<span class="soft">–</span>` : formatP(p)
}

/** The number of flips leads to them; that of all tasks does not. */
function drawFlips([task, row, kind]) {
  const flips = countFlips(row)
  if (flips === 0 || kind === 'total') return formatCount(flips)
  const label = `${pluralize(flips, 'item')} of ${task} that flipped`
  return html`<button type="button" class="sort link" aria-label=${label} onClick=${() => showFlips(task)}>${formatCount(flips)}</button>`
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
