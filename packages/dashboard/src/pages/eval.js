/** One eval: its progress, its results by category and task, and, on a tab of their own, its samples. */
import { fetchJson } from '../api.js'
import { useEventStream, useResource } from '../data-hooks.js'
import { describeStatus, isActive, listLabels } from '../eval-facts.js'
import { formatCount, formatDecimal, formatPercent } from '../format.js'
import { html, useState } from '../html.js'
import { Bar, BarsTable } from '../parts/bars.js'
import {
  Chip,
  ConnectionLostBanner,
  ErrorMessage,
  Loading,
  PageHeader,
  Panel,
  StatTiles,
  StatusBanner,
} from '../parts/common.js'
import { EvalNextPanel } from '../parts/eval-next-panel.js'
import { FailuresPanel } from '../parts/failures-panel.js'
import { RelativeTime } from '../parts/relative-time.js'
import { Table } from '../parts/table.js'
import { Tabs } from '../parts/tabs.js'
import { EvalSamples } from './eval-samples.js'
import { formatInterval, suiteName } from './evals.js'

/** The server sends a keep-alive comment every fifteen seconds. */
const IDLE_TIMEOUT_MS = 40_000

export function EvalPage({ name: id, view = 'results', id: sample }) {
  const path = `eval/${encodeURIComponent(id)}`
  const { value, problem, reload } = useResource(path)
  const [heard, setHeard] = useState(undefined)
  const [trouble, setTrouble] = useState(undefined)
  const over = value && !isActive(value.status)
  const hear = (_event, data) => {
    setHeard(data.progress ?? data)
    if (data.status !== undefined && !isActive(data.status)) {
      reload()
      return 'enough'
    }
    const { done, total } = data.progress ?? data
    if (done !== undefined && done === total) setTimeout(reload, 500)
    return undefined
  }
  const events = useEventStream(value && !over ? `${path}/events` : null, hear, { quietMs: IDLE_TIMEOUT_MS })
  if (problem && !value)
    return html`<${PageHeader} title=${id}><a class="end" href="#/evals">All evals</a><//><${ErrorMessage} problem=${problem} absent="This server does not support evals." />`
  if (!value) return html`<${PageHeader} title=${id} /><${Loading} />`
  const progress = over ? value.progress : { ...value.progress, ...heard }
  const { tone, text } = describeStatus({ status: value.status, progress })
  const cancel = () => fetchJson(path, { method: 'DELETE' }).then(reload, setTrouble)
  return html`
    <${PageHeader} title=${value.model?.name ?? 'Your own completions'} about=${html`<${About} value=${value} />`}>
      <${Chip} tone=${tone}>${text}<//>
      ${listLabels(value).map((label) => html`<${Chip}>${label}<//>`)}
      <span class="end">
        ${over ? html`<a href="#/evals">All evals</a>` : html`<button type="button" onClick=${cancel}>Cancel</button>`}
      </span>
    <//>
    <${Tabs} label="Views of this eval" view=${view} tabs=${[
      ['results', 'Results', `#/evals/${id}`],
      ['samples', 'Samples', `#/evals/${id}/samples`],
    ]} />
    ${trouble && html`<${ErrorMessage} problem=${trouble} />`}
    ${value.detail && html`<${StatusBanner} tone="bad" is=${value.status} why=${value.detail} />`}
    ${!over && !events.live && events.at && html`<${ConnectionLostBanner} at=${events.at} problem=${events.problem} />`}
    ${!over && html`<${Panel} title="Progress"><${ProgressBar} progress=${progress} />${value.model === null && html`<${ExternalCompletionsHelp} path=${path} />`}<//>`}
    ${view === 'samples' ? html`<${EvalSamples} value=${value} path=${path} id=${sample} />` : html`<${Results} value=${value} path=${path} over=${over} />`}
  `
}

/** The line below the title: what was measured, for which run, and when. */
function About({ value }) {
  const { id, run, step } = value
  return html`${id}, on ${suiteName(value)}${run && html`, for run <a href=${`#/runs/${encodeURIComponent(run)}`}>${run}</a>`}${step !== null && ` at step ${formatCount(step)}`}, created <${RelativeTime} at=${value.created_at} />`
}

function Results({ value, path, over }) {
  const { result } = value
  return html`
    ${result && html`<${FailuresPanel} result=${result} />`}
    ${result?.frontier && html`<${Frontier} frontier=${result.frontier} />`}
    ${result && (result.scored > 0) && html`<${Result} result=${result} />`}
    ${over && html`<${EvalNextPanel} value=${value} path=${path} />`}
  `
}

/** Explains how to submit completions to an eval without a model. */
function ExternalCompletionsHelp({ path }) {
  return html`<p class="soft">This eval has no model. Get its prompts with <code>GET /${path}/items</code> and submit your completions with <code>POST /${path}/completions</code>.</p>`
}

function ProgressBar({ progress }) {
  const { done = 0, total = 0, failed = 0, mean_score } = progress
  return html`<div class="progress" role="status">
    <p>${formatCount(done)} of ${formatCount(total)} samples${failed > 0 ? `, ${formatCount(failed)} failed` : ''}${mean_score !== null && mean_score !== undefined ? `; mean score so far ${formatDecimal(mean_score, 3)}` : ''}</p>
    <progress max=${Math.max(1, total)} value=${done} aria-label="Finished samples"></progress>
  </div>`
}

/** The guess floor is the score that guessing earns. Where it is unknown, the lift treats it as 0. */
function liftNote({ guess_floor, guess_floor_unknown, scored }) {
  const floor = `guess floor ${formatDecimal(guess_floor, 3)}`
  return guess_floor_unknown > 0
    ? `${floor}, unknown for ${formatCount(guess_floor_unknown)} of ${formatCount(scored)}`
    : floor
}

/** The difficulty of each task at which the model solves half of the items. */
function Frontier({ frontier }) {
  const leftOut = Object.entries(frontier.left_out)
  const sorted = Object.entries(frontier.tasks).toSorted(
    ([a, x], [b, y]) => y.difficulty_at_half - x.difficulty_at_half || (a < b ? -1 : 1),
  )
  const span = ([low, high]) => `${formatDecimal(low, 2)} to ${formatDecimal(high, 2)}`
  return html`<${Panel} title="Frontier" about="The difficulty at which the model solves half of the items beyond guessing. The eval chose the items to find this difficulty, so the scores below do not measure the model.">
    <${StatTiles} tiles=${[['Difficulty at 50%', formatDecimal(frontier.difficulty_at_half, 3), frontier.interval_90 ? `90% interval: ${span(frontier.interval_90)}` : undefined]]} />
    <${Table} label="Frontier by task">
      <thead><tr><th>task</th><th>difficulty at 50%, with 90% interval</th><th class="num">difficulty</th><th class="num">90% interval</th><th class="num">items</th></tr></thead>
      <tbody>
        ${sorted.map(
          ([name, { difficulty_at_half, interval_90, beyond, items }]) => html`<tr>
            <th scope="row">${name} ${beyond && html`<${Chip}>${beyond === 'above_ladder' ? 'harder than the ladder' : 'easier than the ladder'}<//>`}</th>
            <td class="wide"><${Bar} value=${difficulty_at_half} low=${interval_90[0]} high=${interval_90[1]} label=${`${formatDecimal(difficulty_at_half, 2)}, from ${span(interval_90)}`} /></td>
            <td class="num">${formatDecimal(difficulty_at_half, 2)}</td>
            <td class="num">${span(interval_90)}</td>
            <td class="num">${formatCount(items)}</td>
          </tr>`,
        )}
      </tbody>
    <//>
    ${leftOut.length > 0 && html`<p class="soft">Excluded: ${leftOut.map(([task, reason]) => `${task} (${reason})`).join(', ')}.</p>`}
  <//>`
}

function Result({ result }) {
  const passes = Object.entries(result.pass_at ?? {})
  const lastPass = passes.at(-1)
  return html`
    <${StatTiles}
      tiles=${[
        ['Mean score', formatDecimal(result.mean_score, 3), `95% interval: ${formatInterval(result)}`],
        ['Lift', formatDecimal(result.lift, 3), liftNote(result)],
        ['Accuracy', formatPercent(result.accuracy, 1), 'scores of 0.99 or more'],
        lastPass &&
          Number(lastPass[0]) > 1 && [
            `pass@${lastPass[0]}`,
            formatPercent(lastPass[1], 1),
            `pass@1 ${formatPercent(passes[0][1], 1)}`,
          ],
        lastPass &&
          Number(lastPass[0]) > 1 && [
            `maj@${lastPass[0]}`,
            formatPercent(result.majority_at?.[lastPass[0]], 1),
            `pass^${lastPass[0]} ${formatPercent(result.pass_all?.[lastPass[0]], 1)}`,
          ],
        ['Format faults', formatPercent(result.format_faults, 1)],
        [
          'Not scored',
          formatCount((result.missing ?? 0) + (result.unscored ?? 0)),
          `${formatCount(result.missing)} missing, ${formatCount(result.unscored)} unscored`,
        ],
        ['Truncated', formatCount(result.truncated), `${formatCount(result.mean_tokens)} tokens on average`],
      ].filter(Boolean)}
    />
    ${(result.warnings ?? []).map((warning) => html`<${StatusBanner} tone="warn" is="note" why=${warning} />`)}
    <div class="grid">
      <${Panel} title="Categories" width="w5"><${BarsTable} rows=${result.categories ?? {}} what="category" /><//>
      <${Panel} title="Tasks" width="w7"><${BarsTable} rows=${result.tasks ?? {}} what="task" /><//>
    </div>
  `
}
