/** The list of all runs: find, sort, compare, finish, archive and delete them. */

import { fetchJson } from '../api.js'
import { useCaller } from '../caller.js'
import { useResource } from '../data-hooks.js'
import { formatCount, humanize } from '../format.js'
import { useQueryField } from '../hooks.js'
import { html, useState } from '../html.js'
import { drawLatestReward } from '../parts/activity-panels.js'
import {
  Chip,
  EmptyState,
  ErrorMessage,
  PageHeader,
  Panel,
  RelativeTime,
  ResourceState,
  RunStateChips,
} from '../parts/common.js'
import { DemoButton } from '../parts/demo-button.js'
import { FilterSelect, ListCount, pickColumn, SearchField, usePicked } from '../parts/list-tools.js'
import { DataTable } from '../parts/table.js'
import { getLastActivity, RUN_COLUMNS } from '../run-facts.js'
import { matchWords, parseOrder, sortRows } from '../sorting.js'
import { MAX_COMPARED_RUNS } from './compare-runs.js'

const RUNS_PER_PAGE = 100

export function RunsPage() {
  const [archived, setArchived] = useQueryField('archived')
  const [order, setOrder] = useQueryField('sort', 'activity')
  const [pages, setPages] = useState(1)
  const sort = parseOrder(order).key === 'name' ? 'name' : 'activity'
  const path = `runs?sort=${sort}&limit=${RUNS_PER_PAGE}${archived === '' ? '' : '&archived=true'}`
  const load = (first, options) => loadRuns(first, pages, options)
  const { value, problem, at, reload } = useResource(path, { load, version: pages, everyMs: 5000 })
  return html`
    <${PageHeader} title="Runs" about="A run holds the state of one training run. All nodes that use its name share its settings, items, buffer and curriculum." />
    <${ResourceState} value=${value} problem=${problem} at=${at} />
    ${
      value &&
      html`<${RunList} runs=${value.runs} order=${order} onOrder=${setOrder} archived=${archived !== ''} onArchived=${(on) => setArchived(on ? 'true' : '')} reload=${reload}
        onMore=${value.hasMore ? () => setPages(pages + 1) : undefined} />`
    }
  `
}

/** Loads the first `pages` pages of the list. */
async function loadRuns(path, pages, options) {
  const runs = []
  let after = ''
  for (let k = 0; k < pages; k++) {
    const page = await fetchJson(`${path}${after}`, options)
    runs.push(...page.runs)
    if (page.next_cursor === null) return { runs, hasMore: false }
    after = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
  return { runs, hasMore: true }
}

function RunList({ runs, order, onOrder, archived, onArchived, reload, onMore }) {
  const [q, setQ] = useQueryField('q')
  const [state, setState] = useQueryField('state')
  const { picked, pick, clear } = usePicked(MAX_COMPARED_RUNS)
  const [problem, setProblem] = useState(undefined)
  const caller = useCaller()
  if (runs.length === 0 && !archived)
    return html`<${Panel}>
      <${EmptyState}>There are no runs yet. A run begins when a trainer first uses its name. To see what one looks like, run a demo.<//>
      <${DemoButton} />
      <p class="more"><button type="button" class="quiet" onClick=${() => onArchived(true)}>Show archived runs</button></p>
    <//>`
  const fits = matchWords(q, (one) => [
    one.run,
    one.lifecycle,
    humanize(one.state?.is ?? ''),
    one.preset,
    ...one.tags,
    ...one.tasks,
  ])
  const shown = sortRows(
    runs.filter((one) => (state === '' || one.state?.is === state) && fits(one)),
    RUN_COLUMNS,
    order,
  )
  const states = [...new Set(runs.map((one) => one.state?.is).filter(Boolean))].toSorted((a, b) => a.localeCompare(b))
  const act = (one, options) => {
    setProblem(undefined)
    void fetchJson(`runs/${encodeURIComponent(one.run)}`, options)
      .then(reload)
      .catch(setProblem)
  }
  const mayChange = ({ run }) => caller.denial('trainer', run) === undefined
  const drawActions = (one) => mayChange(one) && html`<${RunActions} one=${one} act=${act} />`
  const columns = [
    pickColumn(({ run }) => run, picked, pick),
    ['run', drawName, 'name', { name: 'name', up: true }],
    ['state', drawState, '', { name: 'state', up: true }],
    ['last activity', drawActivity, 'from-m', { name: 'activity' }],
    ['step', ({ progress }) => formatCount(progress.step), 'num from-m', { name: 'step' }],
    ['rollouts', ({ progress }) => formatCount(progress.rollouts), 'num from-l', { name: 'rollouts' }],
    ['buffered groups', ({ progress }) => formatCount(progress.buffered_groups), 'num from-l'],
    ['latest reward', drawLatestReward, 'num', { name: 'reward' }],
    [html`<span class="unseen">actions</span>`, drawActions, 'from-m'],
  ]
  return html`<${Panel}>
    <div class="filters">
      <${SearchField} label="Search" value=${q} onChange=${setQ} />
      <${FilterSelect} label="State" value=${state} any="all" options=${states} nameOf=${humanize} onChange=${setState} />
      <label class="check"><input type="checkbox" checked=${archived} onChange=${({ target }) => onArchived(target.checked)} />Archived runs</label>
      <${ListCount} shown=${shown} all=${runs} name="run" />
    </div>
    <p class="picked">${
      picked.length >= 2
        ? html`<a class="button" href=${`#/compare?runs=${picked.map(encodeURIComponent).join(',')}`}>Compare ${picked.length} runs</a> <button type="button" class="quiet" onClick=${clear}>Clear</button>`
        : html`<span class="soft">Select 2 to ${MAX_COMPARED_RUNS} runs to compare them.</span>`
    }</p>
    ${problem && html`<${ErrorMessage} problem=${problem} />`}
    ${shown.length === 0 ? html`<${EmptyState}>No run matches the filters.<//>` : html`<${DataTable} label="Runs" rows=${shown} columns=${columns} header=${1} order=${order} onOrder=${onOrder} getProps=${({ run }) => ({ key: run })} />`}
    ${onMore && html`<p class="more"><button type="button" onClick=${onMore}>More runs</button></p>`}
  <//>`
}

function drawName(one) {
  const { run, progress, tags } = one
  return html`<a href=${`#/runs/${encodeURIComponent(run)}`}>${run}</a> ${tags.map((tag) => html`<${Chip}>${tag}<//> `)}<small class="until-m">step ${formatCount(progress.step)}, ${drawActivity(one)}</small>`
}

function drawState({ state, lifecycle, warnings, warning }) {
  return html`<${RunStateChips} state=${state} lifecycle=${lifecycle} warnings=${warnings} why=${warning?.why} />`
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
