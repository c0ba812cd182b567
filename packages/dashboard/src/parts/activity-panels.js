/** What runs on the server now: the latest runs with their reward over training, and the evals in progress. */
import { useMetricRows } from '../data-hooks.js'
import { isActive, modelName } from '../eval-facts.js'
import { formatCount, formatDecimal } from '../format.js'
import { html } from '../html.js'
import { getLastActivity } from '../run-facts.js'
import { Chip, EmptyState, ErrorMessage, Loading, Panel, RelativeTime, RunStateChips, StatusChip } from './common.js'
import { Command, getServerUrl } from './copy.js'
import { DemoButton } from './demo-button.js'
import { DataTable } from './table.js'

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
      html`<${DataTable} label="Runs" rows=${shown.slice(0, MAX_RUNS)} columns=${RUN_COLUMNS}
        getProps=${({ run, state }) => ({ key: run, class: RESTING.includes(state?.is) ? 'soft' : '' })} />`
    }
    ${shown.length > MAX_RUNS && html`<p class="more"><a href="#/runs">All runs</a></p>`}
  <//>`
}

function FirstRun() {
  return html`<${EmptyState}>
    <p>There are no runs yet. See what one looks like, or train on this server:</p>
    <${DemoButton} />
    <${Command} text=${`python3 examples/train.py --url ${getServerUrl()}`} />
  <//>`
}

const RUN_COLUMNS = [
  ['run', drawRunName, 'name'],
  ['state', drawRunState],
  ['latest reward', drawLatestReward, 'num'],
  ['over training', (run) => html`<${RewardLine} run=${run} />`, 'from-m'],
  ['step', ({ progress }) => formatCount(progress.step), 'num from-m'],
  ['rollouts', ({ progress }) => formatCount(progress.rollouts), 'num from-l'],
  ['last group', (run) => html`<${RelativeTime} at=${getLastActivity(run)} />`, 'from-l'],
]

export function drawRunName({ run, tags }) {
  return html`<a href=${`#/runs/${encodeURIComponent(run)}`}>${run}</a> ${tags.map((tag) => html`<${Chip}>${tag}<//> `)}`
}

export function drawRunState({ state, lifecycle, warnings, warning }) {
  return html`<${RunStateChips} state=${state} lifecycle=${lifecycle} warnings=${warnings} why=${warning?.why} />`
}

/** Of the last steps, with that of the whole run: a mean over all steps hardly shows a collapse. */
export function drawLatestReward({ recent_reward: recent, mean_reward: mean }) {
  return html`<span title="Mean reward of the last 10 steps">${formatDecimal(recent)}</span> ${mean !== null && html`<small class="from-m" title="Mean reward of the whole run">all ${formatDecimal(mean)}</small>`}`
}

function RewardLine({ run: { run, progress } }) {
  const version = progress.step ?? Math.floor(progress.scored_groups / 8)
  const rows = useMetricRows(`runs/${encodeURIComponent(run)}/metrics`, { points: SPARKLINE_POINTS, version })
  if (!rows.value) return '–'
  return html`<${Sparkline} name="reward" values=${rows.value.map((row) => row['reward/mean'] ?? null)} />`
}

/** Runs with warnings come first, then those that are worked on, then those with the latest group. */
function byActivity(a, b) {
  const isWarned = ({ warnings }) => Number(warnings > 0)
  const isResting = ({ state }) => Number(RESTING.includes(state?.is))
  const last = (run) => getLastActivity(run) ?? (Date.parse(run.state?.since) || 0)
  return isWarned(b) - isWarned(a) || isResting(a) - isResting(b) || last(b) - last(a)
}

const EVAL_COLUMNS = [
  ['eval', ({ id, label }) => html`<a href=${`#/evals/${id}`}>${label ?? id}</a>`],
  ['model', modelName, 'name'],
  ['suite', ({ suite }) => suite?.name ?? '–', 'from-l'],
  ['status', (one) => html`<${StatusChip} value=${one} />`, 'from-m'],
  ['progress', drawProgress, 'from-m'],
  ['score so far', ({ progress }) => formatDecimal(progress?.mean_score, 3), 'num'],
]

function drawProgress({ id, progress }) {
  const { done = 0, total = 0 } = progress ?? {}
  return html`<progress max=${Math.max(1, total)} value=${done} aria-label=${`Progress of ${id}`}></progress> ${formatCount(done)} of ${formatCount(total)}`
}

/** Hidden if no eval is running. */
export function RunningEvalsPanel({ evals }) {
  const running = (evals ?? []).filter(({ status }) => isActive(status))
  if (running.length === 0) return null
  return html`<${Panel} title="Evals in progress">
    <${DataTable} label="Evals in progress" rows=${running} columns=${EVAL_COLUMNS} getProps=${({ id }) => ({ key: id })} />
  <//>`
}

const [WIDTH, HEIGHT, MARGIN] = [96, 22, 2]

/** A line as small as a word, without axes, for a row of a table. `values`: numbers, null for a gap. The scale is at least [0, 1]. */
function Sparkline({ name, values }) {
  const known = values.flatMap((value, k) => (typeof value === 'number' ? [[k, value]] : []))
  if (known.length === 0) return html`<span class="soft">–</span>`
  const [low, high] = [Math.min(0, ...known.map(([, v]) => v)), Math.max(1, ...known.map(([, v]) => v))]
  const place = ([k, value]) => {
    const x = MARGIN + ((WIDTH - 2 * MARGIN) * k) / Math.max(1, values.length - 1)
    const y = HEIGHT - MARGIN - ((HEIGHT - 2 * MARGIN) * (value - low)) / (high - low)
    return [x.toFixed(1), y.toFixed(1)]
  }
  const last = known.at(-1)
  const [x, y] = place(known.length === 1 ? [values.length - 1, last[1]] : last)
  const label =
    known.length === 1
      ? `${name} ${formatDecimal(last[1])}`
      : `${name} from ${formatDecimal(known[0][1])} to ${formatDecimal(last[1])}`
  return html`<svg class="sparkline" role="img" aria-label=${label} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} width=${WIDTH} height=${HEIGHT}>
    ${known.length > 1 && html`<polyline points=${known.map((point) => place(point).join()).join(' ')} />`}
    <circle cx=${x} cy=${y} r="2" />
  </svg>`
}
