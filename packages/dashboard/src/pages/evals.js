/** All evals: start one, find and sort them, plot learning curves of runs, and select two to compare. */

import { fetchJson } from '../api.js'
import { NeedsRole, useCaller } from '../caller.js'
import { useResource } from '../data-hooks.js'
import { EVAL_COLUMNS, filterEvals, isActive, listFilterOptions, listLabels, modelName } from '../eval-facts.js'
import { formatCount, formatDecimal, formatRange } from '../format.js'
import { setQuery, useHashRoute, useQueryField } from '../hooks.js'
import { html } from '../html.js'
import { Chip, EmptyState, PageHeader, Panel, RelativeTime, ResourceState, StatusChip } from '../parts/common.js'
import { EvalCurves } from '../parts/eval-curves.js'
import { EvalForm } from '../parts/eval-form.js'
import { FilterSelect, ListCount, pickColumn, SearchField, usePicked } from '../parts/list-tools.js'
import { DataTable } from '../parts/table.js'
import { sortRows } from '../sorting.js'

/** The server lists the newest evals up to this number. */
const MAX_EVALS = 1000

export function EvalsPage() {
  const { value, problem, at, reload } = useResource(`eval?limit=${MAX_EVALS}`, { everyMs: 4000 })
  const state = html`<${ResourceState} value=${value} problem=${problem} at=${at} absent="This server does not support evals." />`
  return html`
    <${PageHeader} title="Evals" about="An eval measures one model on a suite, a frozen list of items." />
    <${NeedsRole} role="evaluator" to="start an eval"><${EvalForm} onStarted=${({ id }) => {
      location.hash = `#/evals/${id}`
    }} /><//>
    ${problem && !value ? html`<${Panel}>${state}<//>` : state}
    ${value && html`<${EvalsPanel} evals=${value.evals} reload=${reload} />`}
  `
}

const FILTERS = ['model', 'suite', 'run', 'label']

function EvalsPanel({ evals, reload }) {
  const { query } = useHashRoute()
  const [order, setOrder] = useQueryField('sort', 'created')
  const { picked, pick } = usePicked(2)
  const mayStart = useCaller().denial('evaluator') === undefined
  const filter = Object.fromEntries(['q', ...FILTERS].map((name) => [name, query.get(name) ?? '']))
  const options = listFilterOptions(evals)
  const shown = sortRows(filterEvals(evals, filter), EVAL_COLUMNS, order)
  if (evals.length === 0)
    return html`<${Panel} title="All evals"><${EmptyState}>There are no evals yet. ${mayStart ? 'Start one with the form above.' : 'They appear here once they are started.'}<//><//>`
  return html`
    <${EvalCurves} evals=${shown} />
    <${Panel} title="All evals">
      <div class="filters">
        <${SearchField} label="Search" value=${filter.q} onChange=${(q) => setQuery({ q })} />
        ${FILTERS.filter((name) => options[name].length > 0).map(
          (name) =>
            html`<${FilterSelect} label=${name.replace(/^./, (c) => c.toUpperCase())} value=${filter[name]} any="all" options=${options[name]} onChange=${(choice) => setQuery({ [name]: choice })} />`,
        )}
        <${ListCount} shown=${shown} all=${evals} name="eval" />
      </div>
      <p class="picked">${
        picked.length === 2
          ? html`<a class="button" href=${`#/evals/compare?a=${picked[0]}&b=${picked[1]}`}>Compare the selected evals</a>`
          : html`<span class="soft">Select two evals to compare them.</span>`
      }</p>
      ${shown.length === 0 ? html`<${EmptyState}>No eval matches the filters.<//>` : html`<${EvalList} evals=${shown} picked=${picked} onPick=${pick} order=${order} onOrder=${setOrder} reload=${reload} />`}
    <//>
  `
}

function EvalList({ evals, picked, onPick, order, onOrder, reload }) {
  const caller = useCaller()
  const mayCancel = ({ status, run }) => isActive(status) && caller.denial('evaluator', run ?? undefined) === undefined
  const cancel = ({ id }) => fetchJson(`eval/${id}`, { method: 'DELETE' }).then(reload, reload)
  const drawStatus = (one) =>
    html`${drawState(one)}${mayCancel(one) && html` <button type="button" class="quiet" onClick=${() => cancel(one)}>Cancel<span class="unseen"> ${one.id}</span></button>`}`
  const columns = [
    pickColumn(({ id }) => id, picked, onPick),
    ['model', drawName, 'name', { name: 'model', up: true }],
    ['suite', ({ suite }) => suite.name, 'from-m', { name: 'suite', up: true }],
    ['run', nameRun, 'name from-l', { name: 'run', up: true }],
    ['labels', (one) => listLabels(one).map((label) => html`<${Chip}>${label}<//> `), 'from-l'],
    ['status', drawStatus, 'from-m'],
    ['created', ({ created_at: at }) => html`<${RelativeTime} at=${at} />`, 'from-m', { name: 'created' }],
    ['score', drawScore, 'num', { name: 'score' }],
    ['95% interval', nameInterval, 'num from-l'],
  ]
  return html`<${DataTable} label="Evals" rows=${evals} columns=${columns} header=${1} order=${order} onOrder=${onOrder} getProps=${({ id }) => ({ key: id })} />`
}

function drawName(one) {
  return html`<a href=${`#/evals/${one.id}`}>${modelName(one)}</a> <small>${one.id}</small><small class="until-m">${one.suite.name}, <${RelativeTime} at=${one.created_at} /> ${drawState(one)}</small>`
}

function drawState(one) {
  const { detail } = one
  return html`<${StatusChip} value=${one} share />${detail && html` <span class="soft reason" title=${detail}>${detail}</span>`}`
}

function nameRun({ run, step }) {
  return `${run ?? '–'}${step === null ? '' : `, step ${formatCount(step)}`}`
}

function drawScore(one) {
  const interval = nameInterval(one)
  return html`${formatHeadline(one)}<small class="until-l">${interval !== '–' && interval}</small>`
}

function nameInterval({ difficulty_at_half, result }) {
  return difficulty_at_half === null ? formatRange(result?.confidence_95) : '–'
}

/** The mean score; for a frontier eval the difficulty, because the model solves half of its items by design. */
function formatHeadline({ difficulty_at_half, result, progress }) {
  if (difficulty_at_half !== null) return `50% at ${formatDecimal(difficulty_at_half, 2)}`
  return formatDecimal(result?.mean_score ?? progress?.mean_score, 3)
}
