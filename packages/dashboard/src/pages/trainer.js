/** One trainer: the configuration to paste, with the address of this server and the name of a run filled in. */
import { useResource } from '../data-hooks.js'
import { formatCount } from '../format.js'
import { html, useState } from '../html.js'
import { Chip, EmptyState, ErrorMessage, Loading, PageHeader, Panel, StatTiles } from '../parts/common.js'
import { RelativeTime } from '../parts/relative-time.js'

export function TrainerPage({ name }) {
  const { value, problem } = useResource('adapters')
  const runs = useResource('runs').value?.runs ?? []
  const [run, setRun] = useState('')
  const adapter = value?.adapters.find((one) => one.name === name)
  const back = html`<a class="end" href="#/trainers">All trainers</a>`
  if (problem && !value) return html`<${PageHeader} title=${name}>${back}<//><${ErrorMessage} problem=${problem} />`
  if (!value) return html`<${PageHeader} title=${name} /><${Loading} />`
  if (!adapter)
    return html`<${PageHeader} title=${name}>${back}<//><${EmptyState}>This server has no integration for a trainer of this name.<//>`
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
        <ul>${adapter.paths.map((path) => html`<li><code>${path}</code></li>`)}</ul>
        <h3 class="more">Client code</h3>
        <p>${adapter.client_file === null ? 'none' : html`<code>${adapter.client_file}</code>`}</p>
        <h3 class="more">Unscored rollouts</h3>
        <p>${adapter.unscored}</p>
      <//>
      <${Panel} title="Usage" width="w12"><${Usage} usage=${adapter.usage} /><//>
    </div>
  `
}

function Usage({ usage }) {
  return html`<${StatTiles}
    tiles=${[
      ['Samples', formatCount(usage.samples)],
      ['Unscored', formatCount(usage.unscored)],
      ['Last used', usage.last_used === null ? 'never' : html`<${RelativeTime} at=${usage.last_used} />`],
      ['Last run', usage.last_run ?? '–'],
    ]}
  />`
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
