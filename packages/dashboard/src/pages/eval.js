/** One eval: its progress, its results by category and task, and, on a tab of their own, its samples. */
import { downloadFile, fetchJson } from '../api.js'
import { NeedsRole } from '../caller.js'
import { useAction, useEventStream, useResource } from '../data-hooks.js'
import { isActive, listLabels, modelName } from '../eval-facts.js'
import {
  formatCompact,
  formatCount,
  formatDecimal,
  formatDuration,
  formatPercent,
  formatRange,
  formatTimeAgo,
  humanize,
  pluralize,
  toSentence,
} from '../format.js'
import { html, useState } from '../html.js'
import { Bar, BarsTable } from '../parts/bars.js'
import {
  Chip,
  ConnectionLostBanner,
  ErrorMessage,
  PageHeader,
  Panel,
  RelativeTime,
  StatTiles,
  StatusBanner,
  StatusChip,
  showPending,
  Tabs,
  Tile,
} from '../parts/common.js'
import { DataTable } from '../parts/table.js'
import { EvalSamples } from './eval-samples.js'

/** The server sends a keep-alive comment every fifteen seconds. */
const IDLE_TIMEOUT_MS = 40_000
/** Evals to choose from for a comparison. */
const MAX_OTHERS = 50

export function EvalPage({ name: id, view = 'results', id: sample }) {
  const path = `eval/${encodeURIComponent(id)}`
  const { value, problem, reload } = useResource(path)
  const [heard, setHeard] = useState(undefined)
  const [trouble, setTrouble] = useState(undefined)
  const over = value && !isActive(value.status)
  const hear = (_event, data) => {
    setHeard(data.progress ?? data)
    if (data.status !== undefined && !isActive(data.status)) {
      setHeard(undefined)
      reload() // of an eval that was resumed since, the stream goes on with its new progress
      return undefined
    }
    const { done, total } = data.progress ?? data
    if (done !== undefined && done === total) setTimeout(reload, 500)
    return undefined
  }
  const events = useEventStream(value && !over ? `${path}/events` : null, hear, { quietMs: IDLE_TIMEOUT_MS })
  if (!value) return showPending({ title: id, list: 'evals', problem, absent: 'This server does not support evals.' })
  const progress = over ? value.progress : { ...value.progress, ...heard }
  const cancel = () => fetchJson(path, { method: 'DELETE' }).then(reload, setTrouble)
  return html`
    <${PageHeader} title=${value.model?.name ?? 'Your own completions'} about=${html`<${About} value=${value} />`}>
      <${StatusChip} value=${{ status: value.status, progress }} />
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
    ${over && canResume(value) && html`<${NeedsRole} role="evaluator" run=${value.run ?? undefined}><${ResumeForm} path=${path} onResumed=${reload} /><//>`}
    ${!over && !events.live && events.at && html`<${ConnectionLostBanner} at=${events.at} problem=${events.problem} />`}
    ${!over && html`<${Panel} title="Progress"><${ProgressBar} progress=${progress} />${value.model === null && html`<${ExternalCompletionsHelp} path=${path} />`}<//>`}
    ${view === 'samples' ? html`<${EvalSamples} value=${value} path=${path} id=${sample} />` : html`<${Results} value=${value} path=${path} over=${over} />`}
  `
}

/** The server generates the missing completions again. Posted ones come from elsewhere. */
function canResume({ model, status, progress }) {
  return model !== null && (status !== 'done' || progress.failed > 0)
}

/** The server deleted the key of the model when the eval ended. */
function ResumeForm({ path, onResumed }) {
  const { start, problem } = useAction(({ target }) => {
    const key = target.elements.api_key.value.trim()
    const body = key === '' ? {} : { api_key: key }
    return fetchJson(`${path}/resume`, { method: 'POST', body }).then(onResumed)
  })
  return html`<form class="row resume" onSubmit=${start}>
    <label>API key of the model, if it needs one<input name="api_key" type="password" autocomplete="off" /></label>
    <button class="main" type="submit">Resume</button>
    ${problem && html`<${ErrorMessage} problem=${problem} />`}
  </form>`
}

/** The line below the title: what was measured, for which run, and when. */
function About({ value }) {
  const { id, run, step, started_at: start, ended_at: end } = value
  const took = start && end ? `, took ${formatDuration((Date.parse(end) - Date.parse(start)) / 1000)}` : ''
  return html`${id}, on ${value.suite.name}${run && html`, for run <a href=${`#/runs/${encodeURIComponent(run)}`}>${run}</a>`}${step !== null && ` at step ${formatCount(step)}`}, created <${RelativeTime} at=${value.created_at} />${took}`
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

const FRONTIER_COLUMNS = [
  ['task', drawFrontierTask],
  ['difficulty at 50%, with 90% interval', drawFrontier, 'wide'],
  ['difficulty', ([, { difficulty_at_half: half }]) => formatDecimal(half), 'num'],
  ['90% interval', ([, { interval_90: bounds }]) => formatRange(bounds, 2), 'num'],
  ['cap', ([, { cap }]) => formatPercent(cap), 'num'],
  ['items', ([, { items }]) => formatCount(items), 'num'],
]

function drawFrontierTask([name, { beyond }]) {
  return html`${name} ${beyond && html`<${Chip}>${beyond === 'above_ladder' ? 'harder than the ladder' : 'easier than the ladder'}<//>`}`
}

function drawFrontier([, { difficulty_at_half: half, interval_90: bounds }]) {
  const label = `${formatDecimal(half)}, from ${formatRange(bounds, 2)}`
  return html`<${Bar} value=${half} low=${bounds[0]} high=${bounds[1]} label=${label} />`
}

/** The difficulty of each task at which the model solves half of the items. */
function Frontier({ frontier }) {
  const leftOut = Object.entries(frontier.left_out)
  const sorted = Object.entries(frontier.tasks).toSorted(
    ([a, x], [b, y]) => y.difficulty_at_half - x.difficulty_at_half || (a < b ? -1 : 1),
  )
  return html`<${Panel} title="Frontier" about="The difficulty at which the model solves half of the items beyond guessing. The eval chose the items to find this difficulty, so the scores below do not measure the model.">
    <${StatTiles}><${Tile} name="Difficulty at 50%" value=${formatDecimal(frontier.difficulty_at_half, 3)} note=${frontier.interval_90 && `90% interval: ${formatRange(frontier.interval_90, 2)}`} /><//>
    <${DataTable} label="Frontier by task" rows=${sorted} columns=${FRONTIER_COLUMNS} />
    ${leftOut.length > 0 && html`<p class="soft">Excluded: ${leftOut.map(([task, reason]) => `${task} (${reason})`).join(', ')}.</p>`}
  <//>`
}

function recoveryNote({ first_try_accuracy, confidence_95 }) {
  const interval = confidence_95 ? `, 95% interval: ${formatRange(confidence_95)}` : ''
  return `right at the first try ${formatPercent(first_try_accuracy, 1)}${interval}`
}

function Result({ result }) {
  const passes = Object.entries(result.pass_at ?? {})
  const [k = 1, rate] = passes.at(-1) ?? []
  return html`
    <${StatTiles}>
      <${Tile} name="Mean score" value=${formatDecimal(result.mean_score, 3)} note=${`95% interval: ${formatRange(result.confidence_95)}`} />
      <${Tile} name="Lift" value=${formatDecimal(result.lift, 3)} note=${liftNote(result)} />
      <${Tile} name="Accuracy" value=${formatPercent(result.accuracy, 1)} note="scores of 0.99 or more" />
      ${
        Number(k) > 1 &&
        html`
        <${Tile} name=${`pass@${k}`} value=${formatPercent(rate, 1)} note=${`pass@1 ${formatPercent(passes[0][1], 1)}`} />
        <${Tile} name=${`maj@${k}`} value=${formatPercent(result.majority_at?.[k], 1)} note=${`pass^${k} ${formatPercent(result.pass_all?.[k], 1)}`} />
      `
      }
      ${result.recovery && html`<${Tile} name="Recovered" value=${formatPercent(result.recovery.rate, 1)} note=${recoveryNote(result.recovery)} />`}
      ${result.twin && html`<${Tile} name="Twin" value=${formatDecimal(result.twin.mean_score, 3)} note=${twinNote(result.twin)} />`}
      <${Tile} name="Format faults" value=${formatPercent(result.format_faults, 1)} />
      <${Tile} name="Not scored" value=${formatCount((result.missing ?? 0) + (result.unscored ?? 0))} note=${`${formatCount(result.missing)} missing, ${formatCount(result.unscored)} unscored`} />
      <${Tile} name="Truncated" value=${formatCount(result.truncated)} note=${`${formatCompact(result.total_tokens)} tokens, ${formatCount(result.mean_tokens)} on average`} />
    <//>
    ${(result.warnings ?? []).map((warning) => html`<${StatusBanner} tone="warn" is="note" why=${warning} />`)}
    <div class="grid">
      <${Panel} title="Categories" width="5"><${BarsTable} rows=${result.categories ?? {}} what="category" /><//>
      <${Panel} title="Tasks" width="7"><${BarsTable} rows=${result.tasks ?? {}} what="task" /><//>
    </div>
  `
}

/** New items of the same kinds: what the model remembers of the suite is missing there. */
function twinNote({ difference, confidence_95, verdict }) {
  const said = { memory_shown: 'memory shown', no_memory_shown: 'no memory shown', too_few_items: 'too few items' }
  return `suite minus twin ${formatDecimal(difference, 3)}, ${formatRange(confidence_95)}: ${said[verdict]}`
}

/** The samples without a score: how many, why, and what that does to the mean score. */
function FailuresPanel({ result }) {
  const { failures } = result
  const count = failures.reduce((sum, failure) => sum + failure.count, 0)
  if (count === 0) return null
  return html`<${Panel} title=${`${pluralize(count, 'sample')} without a score`} about=${explainScore(result)}>
    <${DataTable} label="Reasons" rows=${failures} header=${-1} columns=${[
      ['samples', (failure) => formatCount(failure.count), 'num'],
      ['reason', drawReason],
    ]} />
  <//>`
}

function drawReason({ code, reason }) {
  return reason ? html`${toSentence(reason)} <span class="soft">${humanize(code)}</span>` : humanize(code)
}

function explainScore({ mean_score, mean_score_failures_wrong }) {
  if (mean_score === null) return 'No sample has a score, so this eval says nothing about the model.'
  return `The mean score leaves these samples out. If they counted as wrong, it would be ${formatDecimal(mean_score_failures_wrong, 3)}.`
}

/** What to do with an eval that has ended: read its samples, compare it, keep its report. */
function EvalNextPanel({ value, path }) {
  const { value: list } = useResource(`eval?suite=${encodeURIComponent(value.suite.name)}&limit=${MAX_OTHERS}`)
  const [problem, setProblem] = useState(undefined)
  const others = (list?.evals ?? []).filter((one) => isComparable(one, value))
  const save = () => downloadFile(`${path}/report`, `${value.id}.md`).catch(setProblem)
  return html`<${Panel} title="What to do next">
    <div class="filters">
      ${value.result?.scored > 0 && html`<a class="button" href=${`#/evals/${value.id}/samples?show=wrong`}>Read the wrong answers</a>`}
      <label>Compare with<select onChange=${({ target }) => {
        if (target.value !== '') location.hash = `#/evals/compare?a=${value.id}&b=${target.value}`
      }}>
        <option value="">${others.length === 0 ? 'no other eval on these items yet' : 'select an eval'}</option>
        ${others.map((one) => html`<option value=${one.id}>${describeOther(one)}</option>`)}
      </select></label>
      <button type="button" onClick=${save}>Report</button>
    </div>
    ${problem && html`<${ErrorMessage} problem=${problem} />`}
  <//>`
}

/** Evals compare if they have the same items, which their hashes tell. A frontier eval has items of its own. */
function isComparable(one, value) {
  const same = one.suite.sha256 !== null && one.suite.sha256 === value.suite.sha256
  return same && one.id !== value.id && one.difficulty_at_half === null && one.result?.mean_score != null
}

function describeOther(one) {
  const step = one.step === null ? '' : `, step ${one.step}`
  return `${modelName(one)}${step}, ${formatTimeAgo(Date.parse(one.created_at))}`
}
