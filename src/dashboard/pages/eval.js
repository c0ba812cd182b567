/** One eval: its progress while it runs, its figures by category and task, its samples. */
import { call, save } from '../api.js'
import { count, fixed, percent, words } from '../format.js'
import { html, useState } from '../html.js'
import { useEvents, useLoad } from '../loading.js'
import { BarsTable } from '../parts/bars.js'
import { Chip, Head, Loading, Panel, State, Tiles, Trouble, Unheard } from '../parts/bits.js'
import { SamplesPanel } from '../parts/samples-panel.js'
import { Time } from '../parts/time.js'
import { intervalOf, STATUS_TONES, suiteName } from './evals.js'

/** Its line is kept open by a word every fifteen seconds. */
const QUIET_MS = 40_000

export function EvalPage({ name: id }) {
  const path = `eval/${encodeURIComponent(id)}`
  const { value, problem, reload } = useLoad(path)
  const [heard, setHeard] = useState(undefined)
  const [trouble, setTrouble] = useState(undefined)
  const over = value && !['queued', 'running'].includes(value.status)
  const hear = (_event, data) => {
    setHeard(data.progress ?? data)
    if (data.status !== undefined && !['queued', 'running'].includes(data.status)) {
      reload()
      return 'enough'
    }
    const { done, total } = data.progress ?? data
    if (done !== undefined && done === total) setTimeout(reload, 500)
    return undefined
  }
  const events = useEvents(value && !over ? `${path}/events` : null, hear, { quietMs: QUIET_MS })
  if (problem && !value)
    return html`<${Head} title=${id}><a class="end" href="#/evals">All evals</a><//><${Trouble} problem=${problem} absent="This server runs no evals." />`
  if (!value) return html`<${Head} title=${id} /><${Loading} />`
  const progress = over ? value.progress : { ...value.progress, ...heard }
  const { result } = value
  const cancel = () => call(path, { method: 'DELETE' }).then(reload, setTrouble)
  return html`
    <${Head} title=${value.model?.name ?? 'Completions that are brought'} about=${html`${id}, on ${suiteName(value)}${value.run ? `, for run ${value.run}` : ''}${value.step !== null && value.step !== undefined ? ` at step ${value.step}` : ''}, created <${Time} at=${value.created_at} />`}>
      <${Chip} tone=${STATUS_TONES[value.status]}>${words(value.status)}<//>
      <span class="end">
        ${over ? html`<button type="button" onClick=${() => save(`${path}/report`, `${id}.html`).catch(setTrouble)}>Report</button>` : html`<button type="button" onClick=${cancel}>Cancel</button>`}
      </span>
    <//>
    ${trouble && html`<${Trouble} problem=${trouble} />`}
    ${value.detail && html`<${State} tone="bad" is=${value.status} why=${value.detail} />`}
    ${!over && !events.live && events.at && html`<${Unheard} at=${events.at} problem=${events.problem} />`}
    ${!over && html`<${Panel} title="Progress"><${ProgressBar} progress=${progress} />${value.model === null && html`<${Bring} path=${path} />`}<//>`}
    ${result && html`<${Result} result=${result} />`}
    ${over && html`<${SamplesPanel} path=${path} tasks=${Object.keys(result?.tasks ?? {})} />`}
  `
}

/** Nothing happens by itself to an eval without a model. */
function Bring({ path }) {
  return html`<p class="soft">This eval asks no model: <code>GET /${path}/items</code> has what to answer, and <code>POST /${path}/completions</code> takes the answers.</p>`
}

function ProgressBar({ progress }) {
  const { done = 0, total = 0, failed = 0, mean_score } = progress
  return html`<div class="progress" role="status">
    <p>${count(done)} of ${count(total)} samples${failed > 0 ? `, ${count(failed)} without a score` : ''}${mean_score !== null && mean_score !== undefined ? `; mean score so far ${fixed(mean_score, 3)}` : ''}</p>
    <progress max=${Math.max(1, total)} value=${done} aria-label="Samples done"></progress>
  </div>`
}

function Result({ result }) {
  const passes = Object.entries(result.pass_at ?? {})
  const lastPass = passes.at(-1)
  return html`
    <${Tiles}
      tiles=${[
        ['Mean score', fixed(result.mean_score, 3), `95 %: ${intervalOf(result)}`],
        ['Accuracy', percent(result.accuracy, 1), 'scores of 0.99 or more'],
        lastPass &&
          Number(lastPass[0]) > 1 && [
            `pass@${lastPass[0]}`,
            percent(lastPass[1], 1),
            `pass@1 ${percent(passes[0][1], 1)}`,
          ],
        ['Format faults', percent(result.format_faults, 1)],
        [
          'Without a score',
          count((result.missing ?? 0) + (result.unscored ?? 0)),
          `${count(result.missing)} missing, ${count(result.unscored)} unscored`,
        ],
        ['Cut', count(result.truncated), `${count(result.mean_tokens)} tokens on average`],
      ].filter(Boolean)}
    />
    ${(result.warnings ?? []).map((warning) => html`<${State} tone="warn" is="note" why=${warning} />`)}
    <div class="grid">
      <${Panel} title="Categories" width="w5"><${BarsTable} rows=${result.categories ?? {}} what="category" /><//>
      <${Panel} title="Tasks" width="w7"><${BarsTable} rows=${result.tasks ?? {}} what="task" /><//>
    </div>
  `
}
