/** The list of all runs: find, sort, compare, finish, archive and delete them. */

import { fetchJson } from '../api.js'
import { useCaller } from '../caller.js'
import { useAction, useResource } from '../data-hooks.js'
import { formatCount, humanize, pluralize } from '../format.js'
import { useQueryField } from '../hooks.js'
import { html, useState } from '../html.js'
import { drawLatestReward, drawRunName, drawRunState } from '../parts/activity-panels.js'
import { EmptyState, ErrorMessage, PageHeader, Panel, RelativeTime, ResourceState } from '../parts/common.js'
import { DemoButton } from '../parts/demo-button.js'
import { FilterSelect, pickColumn, SearchField, usePicked } from '../parts/list-tools.js'
import { DataTable } from '../parts/table.js'
import { getLastActivity, RUN_COLUMNS, RUN_STATES } from '../run-facts.js'
import { parseOrder, sortRows } from '../sorting.js'
import { MAX_COMPARED_RUNS } from './compare-runs.js'

const RUNS_PER_PAGE = 50
/** Requests that look for the runs of a page: one examines only so many runs. */
const MAX_REQUESTS = 20
const REFRESH_INTERVAL_MS = 5000
/** A server reads all runs to find those in a state. */
const SEARCH_INTERVAL_MS = 20_000
const WARNED = 'with warnings'

export function RunsPage() {
  const [archived, setArchived] = useQueryField('archived')
  const [order, setOrder] = useQueryField('sort', 'activity')
  const [q, setQ] = useQueryField('q')
  const [state, setState] = useQueryField('state')
  const [pages, setPages] = useState(1)
  const query = new URLSearchParams({
    sort: parseOrder(order).key === 'name' ? 'name' : 'activity',
    limit: String(RUNS_PER_PAGE),
    ...(archived !== '' && { archived: 'true' }),
    ...(q !== '' && { q }),
    ...(state === WARNED ? { has_warnings: 'true' } : state !== '' && { state }),
  })
  const { value, problem, at, reload } = useResource(`runs?${query}`, {
    load: (first, options) => loadRuns(first, pages, options),
    version: pages,
    everyMs: state === '' ? REFRESH_INTERVAL_MS : SEARCH_INTERVAL_MS,
  })
  const isFiltered = q !== '' || state !== ''
  return html`
    <${PageHeader} title="Runs" about="A run holds the state of one training run. All nodes that use its name share its settings, items, buffer and curriculum." />
    <${Panel}>
      <div class="filters">
        <${SearchField} label="Search names, tags, notes and settings" value=${q} onChange=${setQ} />
        <${FilterSelect} label="State" value=${state} any="all" options=${[WARNED, ...RUN_STATES]} nameOf=${humanize} onChange=${setState} />
        <label class="check"><input type="checkbox" checked=${archived !== ''} onChange=${({ target }) => setArchived(target.checked ? 'true' : '')} />Archived runs</label>
        ${value && html`<span class="end" role="status">${describeCount(value, state)}</span>`}
      </div>
      <${ResourceState} value=${value} problem=${problem} at=${at} />
      ${value?.runs.length > 0 && html`<${RunList} list=${value} order=${order} onOrder=${setOrder} reload=${reload} />`}
      ${value?.runs.length === 0 && (isFiltered ? html`<${EmptyState}>No run matches the filters${value.hasMore ? ' so far' : ''}.<//>` : html`<${NoRuns} />`)}
      ${value?.hasMore && html`<p class="more"><button type="button" onClick=${() => setPages(pages + 1)}>More runs</button></p>`}
    <//>
  `
}

/** Loads the first `pages` pages of the list. */
async function loadRuns(path, pages, options) {
  const runs = []
  let after = ''
  for (let k = 0; ; k++) {
    const { runs: more, next_cursor: next, total } = await fetchJson(`${path}${after}`, options)
    runs.push(...more)
    if (next === null || runs.length >= pages * RUNS_PER_PAGE || k >= pages * MAX_REQUESTS)
      return { runs, total, hasMore: next !== null }
    after = `&cursor=${encodeURIComponent(next)}`
  }
}

/** The total is that of the search; the server does not count all runs in a state. */
function describeCount({ runs, total, hasMore }, state) {
  if (runs.length === total) return pluralize(total, 'run')
  const found = state !== '' && hasMore ? `the first ${formatCount(runs.length)}` : formatCount(runs.length)
  return `${found} of ${pluralize(total, 'run')}`
}

function NoRuns() {
  return html`<${EmptyState}>There are no runs yet. A run begins when a trainer first uses its name. To see what one looks like, run a demo.<//><${DemoButton} />`
}

/** A part of the runs is sorted by the server alone; all of them can be sorted by each column. */
function RunList({ list: { runs, hasMore }, order, onOrder, reload }) {
  const { picked, pick, clear } = usePicked(MAX_COMPARED_RUNS)
  const caller = useCaller()
  const shown = hasMore ? runs : sortRows(runs, RUN_COLUMNS, order)
  const sortAll = (sort) => (hasMore ? undefined : sort)
  const { start, problem } = useAction(({ one, options }) =>
    fetchJson(`runs/${encodeURIComponent(one.run)}`, options).then(reload),
  )
  const act = (one, options) => start({ one, options })
  const mayChange = ({ run }) => caller.denial('trainer', run) === undefined
  const drawActions = (one) => mayChange(one) && html`<${RunActions} one=${one} act=${act} />`
  const columns = [
    pickColumn(({ run }) => run, picked, pick),
    ['run', drawName, 'name', { name: 'name', up: true }],
    ['state', drawRunState, '', sortAll({ name: 'state', up: true })],
    ['last activity', drawActivity, 'from-m', { name: 'activity' }],
    ['step', ({ progress }) => formatCount(progress.step), 'num from-m', sortAll({ name: 'step' })],
    ['rollouts', ({ progress }) => formatCount(progress.rollouts), 'num from-l', sortAll({ name: 'rollouts' })],
    ['buffered groups', ({ progress }) => formatCount(progress.buffered_groups), 'num from-l'],
    ['latest reward', drawLatestReward, 'num', sortAll({ name: 'reward' })],
    [html`<span class="unseen">actions</span>`, drawActions, 'from-m'],
  ]
  return html`
    <p class="picked">${
      picked.length >= 2
        ? html`<a class="button" href=${`#/compare?runs=${picked.map(encodeURIComponent).join(',')}`}>Compare ${picked.length} runs</a> <button type="button" class="quiet" onClick=${clear}>Clear</button>`
        : html`<span class="soft">Select 2 to ${MAX_COMPARED_RUNS} runs to compare them.</span>`
    }</p>
    ${problem && html`<${ErrorMessage} problem=${problem} />`}
    <${DataTable} label="Runs" rows=${shown} columns=${columns} header=${1} order=${order} onOrder=${(next) => onOrder(hasMore ? next.replace('-', '') : next)} getProps=${({ run }) => ({ key: run })} />
  `
}

function drawName(one) {
  return html`${drawRunName(one)}<small class="until-m">step ${formatCount(one.progress.step)}, ${drawActivity(one)}</small>`
}

function drawActivity(one) {
  return html`<${RelativeTime} at=${getLastActivity(one)} />`
}

/** A finished run never counts as stalled, and an archived one is hidden. Deleting asks for a second click. */
function RunActions({ one, act }) {
  const [sure, setSure] = useState(false)
  const change = (lifecycle) => () => act(one, { method: 'PATCH', body: { lifecycle } })
  if (sure)
    return html`<span class="actions">Delete ${one.run} with its groups and statistics?
      <button type="button" class="quiet danger" onClick=${() => act(one, { method: 'DELETE' })}>Delete</button>
      <button type="button" class="quiet" onClick=${() => setSure(false)}>Keep</button>
    </span>`
  const named = html`<span class="unseen"> ${one.run}</span>`
  return html`<span class="actions">
    ${one.lifecycle === 'active' && html`<button type="button" class="quiet" onClick=${change('finished')}>Finish${named}</button>`}
    ${one.lifecycle !== 'active' && html`<button type="button" class="quiet" onClick=${change('active')}>Reopen${named}</button>`}
    ${one.lifecycle !== 'archived' && html`<button type="button" class="quiet" onClick=${change('archived')}>Archive${named}</button>`}
    <button type="button" class="quiet danger" onClick=${() => setSure(true)}>Delete${named}</button>
  </span>`
}
