/** What runs on the server now: the latest runs with their reward over training, and the evals in progress. */
import { useMetricRows } from '../data-hooks.js'
import { describeStatus, isActive, modelName } from '../eval-facts.js'
import { formatCount, formatDecimal, humanize } from '../format.js'
import { html } from '../html.js'
import { Chip, EmptyState, ErrorMessage, Loading, Panel } from './common.js'
import { Command, getServerUrl } from './copy.js'
import { DemoButton } from './demo-button.js'
import { RelativeTime } from './relative-time.js'
import { getMean, getTone } from './runs-table.js'
import { Sparkline } from './sparkline.js'
import { Table } from './table.js'

const MAX_RUNS = 8
const SPARKLINE_POINTS = 60
/** States of runs without activity. */
const RESTING = ['idle', 'finished', 'archived']

/** `isAway`: the server reports a failure, so that no runs does not mean that there are none. */
export function RunsPanel({ runs, problem, isAway }) {
  const shown = (runs ?? []).filter(({ lifecycle }) => lifecycle !== 'archived').toSorted(byActivity)
  const isEmpty = runs && shown.length === 0
  if ((isEmpty && (isAway || problem)) || (!runs && problem && isAway)) return null
  return html`<${Panel} title="Runs">
    ${problem && !isAway && html`<${ErrorMessage} problem=${problem} />`}
    ${!runs && !problem && html`<${Loading} />`}
    ${isEmpty && html`<${FirstRun} />`}
    ${
      shown.length > 0 &&
      html`<${Table} label="Runs">
        <thead>
          <tr><th>run</th><th>state</th><th class="num">mean reward</th><th class="from-m">over training</th><th class="num from-m">step</th><th class="num from-l">rollouts</th><th class="from-l">last group</th></tr>
        </thead>
        <tbody>${shown.slice(0, MAX_RUNS).map((run) => html`<${RunRow} key=${run.run} run=${run} />`)}</tbody>
      <//>`
    }
    ${shown.length > MAX_RUNS && html`<p class="more"><a href="#/runs">All ${formatCount(shown.length)} runs</a></p>`}
  <//>`
}

function FirstRun() {
  return html`<${EmptyState}>
    <p>There are no runs yet. See what one looks like, or train on this server:</p>
    <${DemoButton} />
    <${Command} text=${`python examples/train.py --url ${getServerUrl()}`} />
  <//>`
}

function RunRow({ run: { run, state, progress, tasks } }) {
  const path = `runs/${encodeURIComponent(run)}`
  const version = progress.step ?? Math.floor(progress.scored_groups / 8)
  const rows = useMetricRows(`${path}/metrics`, { points: SPARKLINE_POINTS, version })
  const last = getLastGroup(tasks)
  return html`<tr class=${RESTING.includes(state?.is) ? 'soft' : ''}>
    <th scope="row" class="name"><a href=${`#/${path}`}>${run}</a></th>
    <td>${state ? html`<${Chip} tone=${getTone(state)}>${humanize(state.is)}<//>` : '–'}</td>
    <td class="num">${formatDecimal(getMean(tasks, 'mean_reward'))}</td>
    <td class="from-m">${rows.value ? html`<${Sparkline} name="reward" values=${rows.value.map((row) => row['reward/mean'] ?? null)} />` : '–'}</td>
    <td class="num from-m">${progress.step === null || progress.step === undefined ? '–' : formatCount(progress.step)}</td>
    <td class="num from-l">${formatCount(progress.rollouts)}</td>
    <td class="from-l">${last > 0 ? html`<${RelativeTime} at=${last} />` : '–'}</td>
  </tr>`
}

function getLastGroup(tasks) {
  return Math.max(0, ...Object.values(tasks).map(({ last_at }) => Date.parse(last_at) || 0))
}

/** Runs that are worked on come first, then those with the latest group. */
function byActivity(a, b) {
  const isResting = ({ state }) => Number(RESTING.includes(state?.is))
  const last = ({ tasks, state }) => getLastGroup(tasks) || Date.parse(state?.since) || 0
  return isResting(a) - isResting(b) || last(b) - last(a)
}

/** Hidden if no eval is running. */
export function RunningEvalsPanel({ evals }) {
  const running = (evals ?? []).filter(({ status }) => isActive(status))
  if (running.length === 0) return null
  return html`<${Panel} title="Evals in progress">
    <${Table} label="Evals in progress">
      <thead><tr><th>eval</th><th>model</th><th class="from-l">suite</th><th class="from-m">status</th><th class="from-m">progress</th><th class="num">score so far</th></tr></thead>
      <tbody>
        ${running.map((one) => {
          const { tone, text } = describeStatus(one)
          const { done = 0, total = 0, mean_score } = one.progress ?? {}
          return html`<tr key=${one.id}>
            <th scope="row"><a href=${`#/evals/${one.id}`}>${one.label ?? one.id}</a></th>
            <td class="name">${modelName(one)}</td>
            <td class="from-l">${one.suite?.name ?? '–'}</td>
            <td class="from-m"><${Chip} tone=${tone}>${text}<//></td>
            <td class="from-m"><progress max=${Math.max(1, total)} value=${done} aria-label=${`Progress of ${one.id}`}></progress> ${formatCount(done)} of ${formatCount(total)}</td>
            <td class="num">${formatDecimal(mean_score, 3)}</td>
          </tr>`
        })}
      </tbody>
    <//>
  <//>`
}
