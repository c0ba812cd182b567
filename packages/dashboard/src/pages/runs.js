/** The list of all runs: find, sort, compare, finish, archive and delete them. */

import { fetchJson } from '../api.js'
import { useCaller } from '../caller.js'
import { useResource } from '../data-hooks.js'
import { formatCount, humanize, pluralize } from '../format.js'
import { useQueryField } from '../hooks.js'
import { html, useState } from '../html.js'
import { ConnectionLostBanner, EmptyState, ErrorMessage, Loading, PageHeader, Panel } from '../parts/common.js'
import { DemoButton } from '../parts/demo-button.js'
import { FilterSelect, SearchField } from '../parts/list-tools.js'
import { RUN_COLUMNS, RunsTable } from '../parts/runs-table.js'
import { sortRows } from '../sorting.js'
import { MAX_COMPARED_RUNS } from './compare-runs.js'

export function RunsPage() {
  const [archived, setArchived] = useQueryField('archived')
  const { value, problem, at, reload } = useResource(`runs${archived === '' ? '' : '?archived=true'}`, {
    everyMs: 5000,
  })
  return html`
    <${PageHeader} title="Runs" about="A run holds the state of one training run. All nodes that use its name share its settings, items, buffer and curriculum." />
    ${problem && (value ? html`<${ConnectionLostBanner} at=${at} problem=${problem} />` : html`<${ErrorMessage} problem=${problem} />`)}
    ${!value && !problem && html`<${Loading} />`}
    ${value && html`<${RunList} runs=${value.runs} archived=${archived !== ''} onArchived=${(on) => setArchived(on ? 'true' : '')} reload=${reload} />`}
  `
}

function RunList({ runs, archived, onArchived, reload }) {
  const [q, setQ] = useQueryField('q')
  const [state, setState] = useQueryField('state')
  const [order, setOrder] = useQueryField('sort', 'activity')
  const [picked, setPicked] = useState([])
  const [problem, setProblem] = useState(undefined)
  const caller = useCaller()
  if (runs.length === 0 && !archived)
    return html`<${Panel}>
      <${EmptyState}>There are no runs yet. A run begins when a trainer first uses its name. To see what one looks like, run a demo.<//>
      <${DemoButton} />
      <p class="more"><button type="button" class="quiet" onClick=${() => onArchived(true)}>Show archived runs</button></p>
    <//>`
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = (one) => {
    const text = [one.run, one.lifecycle, humanize(one.state?.is ?? ''), one.settings.preset, ...Object.keys(one.tasks)]
      .join(' ')
      .toLowerCase()
    return (state === '' || one.state?.is === state) && words.every((word) => text.includes(word))
  }
  const shown = sortRows(runs.filter(fits), RUN_COLUMNS, order)
  const states = [...new Set(runs.map((one) => one.state?.is).filter(Boolean))].toSorted((a, b) => a.localeCompare(b))
  const pick = (name) =>
    setPicked((before) =>
      before.includes(name) ? before.filter((one) => one !== name) : [...before, name].slice(-MAX_COMPARED_RUNS),
    )
  const act = (one, options) => {
    setProblem(undefined)
    void fetchJson(`runs/${encodeURIComponent(one.run)}`, options)
      .then(reload)
      .catch(setProblem)
  }
  const actions = (one) =>
    caller.denial('trainer', one.run) === undefined ? html`<${RunActions} one=${one} act=${act} />` : null
  return html`<${Panel}>
    <div class="filters">
      <${SearchField} label="Search" value=${q} onChange=${setQ} />
      <${FilterSelect} label="State" value=${state} any="all" options=${states} onChange=${setState} />
      <label class="check"><input type="checkbox" checked=${archived} onChange=${({ target }) => onArchived(target.checked)} />Archived runs</label>
      <span class="end" role="status">${shown.length === runs.length ? pluralize(runs.length, 'run') : `${formatCount(shown.length)} of ${pluralize(runs.length, 'run')}`}</span>
    </div>
    <p class="picked">${
      picked.length >= 2
        ? html`<a class="button" href=${`#/compare?runs=${picked.map(encodeURIComponent).join(',')}`}>Compare ${picked.length} runs</a> <button type="button" class="quiet" onClick=${() => setPicked([])}>Clear</button>`
        : html`<span class="soft">Select 2 to ${MAX_COMPARED_RUNS} runs to compare them.</span>`
    }</p>
    ${problem && html`<${ErrorMessage} problem=${problem} />`}
    ${shown.length === 0 ? html`<${EmptyState}>No run matches the filters.<//>` : html`<${RunsTable} runs=${shown} order=${order} onOrder=${setOrder} picked=${picked} onPick=${pick} actions=${actions} />`}
  <//>`
}

/** A finished run never counts as stalled, and an archived one is hidden. Deleting asks for a second click. */
function RunActions({ one, act }) {
  const [sure, setSure] = useState(false)
  const change = (lifecycle) => () => act(one, { method: 'PATCH', body: { lifecycle } })
  if (sure)
    return html`<span class="actions">Delete ${one.run} with its groups and statistics?
      <button type="button" class="quiet" onClick=${() => act(one, { method: 'DELETE' })}>Delete</button>
      <button type="button" class="quiet" onClick=${() => setSure(false)}>Keep</button>
    </span>`
  const named = html`<span class="unseen"> ${one.run}</span>`
  return html`<span class="actions">
    ${one.lifecycle === 'active' && html`<button type="button" class="quiet" onClick=${change('finished')}>Finish${named}</button>`}
    ${one.lifecycle !== 'active' && html`<button type="button" class="quiet" onClick=${change('active')}>Reopen${named}</button>`}
    ${one.lifecycle !== 'archived' && html`<button type="button" class="quiet" onClick=${change('archived')}>Archive${named}</button>`}
    <button type="button" class="quiet" onClick=${() => setSure(true)}>Delete${named}</button>
  </span>`
}
