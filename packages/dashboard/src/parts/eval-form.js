/** The form that starts an eval. */
import { fetchJson } from '../api.js'
import { NeedsRole } from '../caller.js'
import { useAction, useResource } from '../data-hooks.js'
import { html } from '../html.js'
import { ErrorMessage, Panel } from './common.js'

export function EvalForm({ onStarted }) {
  const { value: suites } = useResource('eval/suites')
  const { value: runs } = useResource('runs?sort=activity&limit=200')
  const { start, busy, problem } = useAction(async ({ target }) => {
    const body = buildRequestBody(new FormData(target))
    onStarted(await fetchJson('eval', { method: 'POST', body, headers: { 'idempotency-key': crypto.randomUUID() } }))
  })
  return html`<${Panel} title="Start an eval" about="Evaluate a model behind an OpenAI-compatible API. The server uses the API key for this eval only and deletes it afterward.">
    <${NeedsRole} role="evaluator" to="start an eval">
    <form onSubmit=${start}>
      <div class="row">
        <label>Base URL<input name="base_url" type="url" required placeholder="http://127.0.0.1:8100/v1" /></label>
        <label>Model<input name="name" required placeholder="name of the model in its API" /></label>
        <label>API key<input name="api_key" type="password" autocomplete="off" /></label>
      </div>
      <div class="row">
        <label>Suite<select name="suite">
          ${listSuiteNames(suites).map((name) => html`<option value=${name}>${name}</option>`)}
          <option value="run">tasks of the run</option>
          <option value="frontier">frontier: difficulty at which half of the items are solved</option>
        </select></label>
        <label>Tasks instead<input name="tasks" placeholder="such as gcd, category:games" /></label>
        <label>Items per task<input name="n" type="number" min="1" max="1000" placeholder="of these tasks: 5" /></label>
        <label>Scoring<select name="scoring"><option value="">of the run, or upstream</option><option>hardened</option><option>upstream</option></select></label>
        <label>Twin<select name="twin" title="Also measure new items of the same kinds, which tells memory from skill. Frozen suites only."><option value="">no</option><option value="true">yes</option></select></label>
        <label>Samples per item<input name="samples_per_item" type="number" min="1" max="256" value="1" /></label>
        <label>Temperature<input name="temperature" type="number" min="0" step="0.05" placeholder="default" /></label>
        <label>Max tokens<input name="max_tokens" type="number" min="1" placeholder="no limit" /></label>
        <label>Concurrency<input name="concurrency" type="number" min="1" max="256" value="16" /></label>
        <label>Run<select name="run"><option value="">none</option>${(runs?.runs ?? []).map(({ run }) => html`<option>${run}</option>`)}</select></label>
        <label>Step<input name="step" type="number" min="0" /></label>
        <button class="main" type="submit" disabled=${busy}>Start</button>
      </div>
      ${problem && html`<${ErrorMessage} problem=${problem} absent="This server does not support evals." />`}
    </form>
    <//>
  <//>`
}

function listSuiteNames(suites) {
  const names = (suites?.suites ?? []).map((suite) => suite.name)
  return names.length > 0 ? names : ['original']
}

const NUMBERS = new Set(['n', 'samples_per_item', 'temperature', 'max_tokens', 'concurrency', 'step'])

/** Builds the request from the form and omits empty fields. */
function buildRequestBody(form) {
  const filled = [...form].map(([name, value]) => [name, String(value).trim()]).filter(([, value]) => value !== '')
  const fields = Object.fromEntries(filled.map(([name, value]) => [name, NUMBERS.has(name) ? Number(value) : value]))
  const { name, base_url, api_key, suite, tasks: list = '', n, twin, ...others } = fields
  const tasks = list
    .split(',')
    .map((task) => task.trim())
    .filter(Boolean)
  const mode = suite === 'frontier' ? { mode: 'frontier' } : {}
  return {
    model: { name, base_url, api_key },
    suite: tasks.length > 0 ? { ...mode, tasks, n } : suite,
    ...(twin && { twin: true }),
    ...others,
  }
}
