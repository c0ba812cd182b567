/** All evals: start one, find and sort them, plot learning curves of runs, and select two to compare. */

import { fetchJson } from '../api.js'
import { NeedsRole, useCaller } from '../caller.js'
import { useResource } from '../data-hooks.js'
import {
  describeStatus,
  EVAL_COLUMNS,
  filterEvals,
  isActive,
  listFilterOptions,
  listLabels,
  modelName,
} from '../eval-facts.js'
import { formatCount, formatDecimal, formatSigned, humanize, pluralize } from '../format.js'
import { setQuery, useHashRoute, useQueryField } from '../hooks.js'
import { html, useState } from '../html.js'
import { Chip, ConnectionLostBanner, EmptyState, ErrorMessage, Loading, PageHeader, Panel } from '../parts/common.js'
import { EvalCurves } from '../parts/eval-curves.js'
import { EvalForm } from '../parts/eval-form.js'
import { FilterSelect, SearchField } from '../parts/list-tools.js'
import { RelativeTime } from '../parts/relative-time.js'
import { SortHead } from '../parts/sort-head.js'
import { Table } from '../parts/table.js'
import { sortRows } from '../sorting.js'

/** The server lists the newest evals up to this number. */
const MAX_EVALS = 1000

export function EvalsPage() {
  const { value, problem, at, reload } = useResource(`eval?limit=${MAX_EVALS}`, { everyMs: 4000 })
  return html`
    <${PageHeader} title="Evals" about="An eval measures one model on a suite, a frozen list of items." />
    <${NeedsRole} role="evaluator" to="start an eval"><${EvalForm} onStarted=${({ id }) => {
      location.hash = `#/evals/${id}`
    }} /><//>
    ${problem && (value ? html`<${ConnectionLostBanner} at=${at} problem=${problem} />` : html`<${Panel}><${ErrorMessage} problem=${problem} absent="This server does not support evals." /><//>`)}
    ${!value && !problem && html`<${Loading} />`}
    ${value && html`<${EvalsPanel} evals=${value.evals} reload=${reload} />`}
    <${DuelsPanel} />
  `
}

const FILTERS = ['model', 'suite', 'run', 'label']

function EvalsPanel({ evals, reload }) {
  const { query } = useHashRoute()
  const [order, setOrder] = useQueryField('sort', 'created')
  const [picked, setPicked] = useState([])
  const mayStart = useCaller().denial('evaluator') === undefined
  const filter = Object.fromEntries(['q', ...FILTERS].map((name) => [name, query.get(name) ?? '']))
  const options = listFilterOptions(evals)
  const shown = sortRows(filterEvals(evals, filter), EVAL_COLUMNS, order)
  const pick = (id) =>
    setPicked((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(-2)))
  if (evals.length === 0)
    return html`<${Panel} title="All evals"><${EmptyState}>There are no evals yet. ${mayStart ? 'Start one with the form above.' : 'They appear here once they are started.'}<//><//>`
  return html`
    <${EvalCurves} evals=${shown} />
    <${Panel} title="All evals">
      <div class="filters">
        <${SearchField} label="Search" value=${filter.q} onChange=${(q) => setQuery({ q })} />
        ${FILTERS.filter((name) => options[name].length > 0).map(
          (name) =>
            html`<${FilterSelect} label=${name.replace(/^./, (c) => c.toUpperCase())} value=${filter[name]} any="all" options=${options[name].map((one) => [one, one])} onChange=${(choice) => setQuery({ [name]: choice })} />`,
        )}
        <span class="end" role="status">${shown.length === evals.length ? pluralize(evals.length, 'eval') : `${formatCount(shown.length)} of ${pluralize(evals.length, 'eval')}`}</span>
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

/** The list of duels, hidden if there are none. Duels are started through the API or the command line. */
function DuelsPanel() {
  const { value } = useResource('duels', { everyMs: 4000 })
  if (!value?.duels?.length) return null
  return html`<${Panel} title="Duels" about="A duel compares two models on the same items until one is shown to be better.">
    <${Table} label="Duels">
      <thead>
        <tr><th>duel</th><th class="from-l">a</th><th class="from-l">b</th><th class="from-m">status</th><th class="from-l">created</th><th>verdict</th><th class="num">difference</th><th class="num from-m">items</th></tr>
      </thead>
      <tbody>
        ${value.duels.map(
          (one) => html`<tr>
            <th scope="row" class="name"><a href=${`#/evals/${one.id}`}>${one.id}</a><small class="until-l">${one.a.name} vs. ${one.b.name}</small></th>
            <td class="name from-l">${one.a.name}</td>
            <td class="name from-l">${one.b.name}</td>
            <td class="from-m"><${StatusChip} value=${one} /></td>
            <td class="from-l"><${RelativeTime} at=${one.created_at} /></td>
            <td>${one.result ? humanize(one.result.verdict) : '–'}</td>
            <td class="num">${formatSigned(one.result?.difference)}</td>
            <td class="num from-m">${formatCount(one.result?.items)}</td>
          </tr>`,
        )}
      </tbody>
    <//>
  <//>`
}

function EvalList({ evals, picked, onPick, order, onOrder, reload }) {
  const head = { order, onOrder }
  return html`<${Table} label="Evals">
      <thead>
        <tr>
          <th class="pick"><span class="unseen">select</span></th>
          <${SortHead} name="model" up ...${head}>model<//>
          <${SortHead} name="suite" up class="from-m" ...${head}>suite<//>
          <${SortHead} name="run" up class="from-l" ...${head}>run<//>
          <th class="from-l">labels</th>
          <th class="from-m">status</th>
          <${SortHead} name="created" class="from-m" ...${head}>created<//>
          <${SortHead} name="score" class="num" ...${head}>score<//>
          <th class="num from-l">95% interval</th>
        </tr>
      </thead>
      <tbody>
        ${evals.map((one) => html`<${EvalRow} key=${one.id} one=${one} picked=${picked} onPick=${onPick} reload=${reload} />`)}
      </tbody>
    <//>`
}

function EvalRow({ one, picked, onPick, reload }) {
  const { id, run, step, detail, difficulty_at_half, result } = one
  const caller = useCaller()
  const mayCancel = isActive(one.status) && caller.denial('evaluator', run ?? undefined) === undefined
  const cancel = () => fetchJson(`eval/${id}`, { method: 'DELETE' }).then(reload, reload)
  const status = html`<${StatusChip} value=${one} />${detail && html` <span class="soft reason" title=${detail}>${detail}</span>`}`
  return html`<tr>
    <td class="pick"><input type="checkbox" aria-label=${`Select ${id}`} checked=${picked.includes(id)} onChange=${() => onPick(id)} /></td>
    <th scope="row" class="name"><a href=${`#/evals/${id}`}>${modelName(one)}</a> <small>${id}</small><small class="until-m">${suiteName(one)}, <${RelativeTime} at=${one.created_at} /> ${status}</small></th>
    <td class="from-m">${suiteName(one)}</td>
    <td class="name from-l">${run ?? '–'}${step !== null && `, step ${formatCount(step)}`}</td>
    <td class="from-l">${listLabels(one).map((label) => html`<${Chip}>${label}<//> `)}</td>
    <td class="from-m">${status}${mayCancel && html` <button type="button" class="quiet" onClick=${cancel}>Cancel<span class="unseen"> ${id}</span></button>`}</td>
    <td class="from-m"><${RelativeTime} at=${one.created_at} /></td>
    <td class="num">${formatHeadline(one)}<small class="until-l">${difficulty_at_half === null && result?.confidence_95 && formatInterval(result)}</small></td>
    <td class="num from-l">${difficulty_at_half === null ? formatInterval(result) : '–'}</td>
  </tr>`
}

function StatusChip({ value }) {
  const { tone, text } = describeStatus(value, { share: true })
  return html`<${Chip} tone=${tone}>${text}<//>`
}

/** The mean score; for a frontier eval the difficulty, because the model solves half of its items by design. */
function formatHeadline({ difficulty_at_half, result, progress }) {
  if (difficulty_at_half !== null) return `50% at ${formatDecimal(difficulty_at_half, 2)}`
  return formatDecimal(result?.mean_score ?? progress?.mean_score, 3)
}

export function suiteName({ suite }) {
  return suite.name
}

export function formatInterval(result) {
  const bounds = result?.confidence_95
  return bounds ? `${formatDecimal(bounds[0], 3)} to ${formatDecimal(bounds[1], 3)}` : '–'
}
