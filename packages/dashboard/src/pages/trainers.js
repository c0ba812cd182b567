/** The trainers that the server supports with their usage, and one with the configuration to paste. */
import { useResource } from '../data-hooks.js'
import { formatCount } from '../format.js'
import { html, useState } from '../html.js'
import {
  Chip,
  EmptyState,
  PageHeader,
  Panel,
  RelativeTime,
  ResourceState,
  StatTiles,
  showPending,
  Tile,
} from '../parts/common.js'
import { DataTable } from '../parts/table.js'

const REFRESH_INTERVAL_MS = 5000

export function TrainersPage() {
  const { value, problem, at } = useResource('adapters', { everyMs: REFRESH_INTERVAL_MS })
  return html`
    <${PageHeader} title="Trainers" about="Trainers that can get items and rewards from this server. Select one to see its configuration." />
    <${ResourceState} value=${value} problem=${problem} at=${at} />
    ${value && html`<${Panel}><${DataTable} label="Trainers" rows=${value.adapters.toSorted(byInterest)} columns=${COLUMNS} /><//>`}
  `
}

/** What readers look for most; the others stay in the order of the server. */
const FIRST = ['trl', 'verl', 'openrlhf', 'slime']

/** Trainers in use come first. */
function byInterest(a, b) {
  const rank = ({ name }) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)
  return Number(b.usage.samples > 0) - Number(a.usage.samples > 0) || rank(a) - rank(b)
}

const COLUMNS = [
  ['trainer', drawAdapter],
  ['client code', ({ client_file: file }) => (file === null ? 'none' : html`<code>${baseName(file)}</code>`), 'from-m'],
  ['samples', ({ usage }) => formatCount(usage.samples), 'num'],
  ['unscored', ({ usage }) => formatCount(usage.unscored), 'num from-l'],
  ['last run', drawLastRun, 'from-l'],
  ['last used', ({ usage }) => html`<${LastUse} usage=${usage} />`],
]

function drawAdapter({ name, title, client_file }) {
  return html`<a href=${`#/trainers/${name}`}>${title}</a>
    <small class="until-m">${client_file === null ? 'no client code' : baseName(client_file)}</small>`
}

function drawLastRun({ usage: { last_run } }) {
  return last_run === null ? '–' : html`<a href=${`#/runs/${last_run}`}>${last_run}</a>`
}

function LastUse({ usage: { last_used } }) {
  return last_used === null ? 'never' : html`<${RelativeTime} at=${last_used} />`
}

/** A package is named by its folder. */
const baseName = (path) =>
  path
    .replace(/\/__init__\.py$/, '/')
    .split('/')
    .filter(Boolean)
    .at(-1)

export function TrainerPage({ name }) {
  const { value, problem } = useResource('adapters')
  const runs = useResource('runs?sort=activity&limit=200').value?.runs ?? []
  const [run, setRun] = useState('')
  const adapter = value?.adapters.find((one) => one.name === name)
  if (!value) return showPending({ title: name, list: 'trainers', problem })
  const back = html`<a class="end" href="#/trainers">All trainers</a>`
  if (!adapter)
    return html`<${PageHeader} title=${name}>${back}<//><${EmptyState}>This server has no integration for a trainer of this name.<//>`
  const { usage } = adapter
  return html`
    <${PageHeader} title=${adapter.title} about=${adapter.summary}>
      <${Chip} tone="accent">${adapter.client_file === null ? 'no client code' : 'one client file'}<//>
      ${back}
    <//>
    <div class="grid">
      <${Panel} title="Configuration to paste" width="w8">
        <div class="filters">
          <label>Run
            <input list="runs-to-name" value=${run} placeholder="RUN" onInput=${({ target }) => setRun(target.value.trim())} />
          </label>
          <datalist id="runs-to-name">${runs.map((one) => html`<option value=${one.run} />`)}</datalist>
          <span class="soft">Replace <code>API_KEY</code> with a key that has the trainer role. If the server has no keys, leave it as it is.</span>
        </div>
        ${adapter.snippets.map(({ title, code }) => html`<${Snippet} title=${title} code=${fillIn(code, run)} />`)}
      <//>
      <${Panel} title="Integration" width="w4">
        <h3>Endpoints</h3>
        <ul class="bullets">${adapter.paths.map((path) => html`<li><code>${path}</code></li>`)}</ul>
        <h3 class="more">Client code</h3>
        <p>${adapter.client_file === null ? 'none' : html`<code>${adapter.client_file}</code>`}</p>
        <h3 class="more">Unscored rollouts</h3>
        <p>${adapter.unscored}</p>
      <//>
      <${Panel} title="Usage" width="w12">
        <${StatTiles}>
          <${Tile} name="Samples" value=${formatCount(usage.samples)} />
          <${Tile} name="Unscored" value=${formatCount(usage.unscored)} />
          <${Tile} name="Last used" value=${html`<${LastUse} usage=${usage} />`} />
          <${Tile} name="Last run" value=${usage.last_run ?? '–'} />
        <//>
      <//>
    </div>
  `
}

/** Replaces the placeholder `RUN`, which is a word of its own. */
function fillIn(code, run) {
  return run === '' ? code : code.replace(/\bRUN\b/g, run)
}

function Snippet({ title, code }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(code)
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return html`<section class="more" aria-label=${title}>
    <div class="row">
      <h3>${title}</h3>
      ${navigator.clipboard && html`<button type="button" class="end" onClick=${copy}>${copied ? 'Copied' : 'Copy'}</button>`}
    </div>
    <pre class="text" tabindex="0" role="region" aria-label=${`${title}: code`}>${code}</pre>
  </section>`
}
