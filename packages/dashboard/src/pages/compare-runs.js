/** Several runs beside each other: their metrics over training, the settings that differ, and figures by task. */

import { ApiError, fetchJson, readNdjson } from '../api.js'
import { isRecent, refreshMetricRows, useResource } from '../data-hooks.js'
import { formatCompact, formatCount, formatDecimal, formatPercent, formatSigned, pluralize } from '../format.js'
import { useQueryField } from '../hooks.js'
import { html, useMemo, useRef } from '../html.js'
import { Chart, ChartToolbar, MarkList, useChartTools } from '../parts/chart.js'
import {
  EmptyState,
  ErrorMessage,
  Loading,
  PageHeader,
  Panel,
  RunStateChips,
  SegmentedControl,
} from '../parts/common.js'
import { DataTable } from '../parts/table.js'
import {
  alignSteps,
  averageLines,
  compareSettings,
  compareTasks,
  getMean,
  groupBySeed,
  listDifficulties,
  nameSeeds,
  omitIgnoredSettings,
  parseRunNames,
  sumFaults,
  summarizeLatest,
} from '../run-facts.js'
import { sortRows } from '../sorting.js'

/** Five have a color of their own; more are for runs of several seeds, which share one. */
export const MAX_COMPARED_RUNS = 15
const RELOAD_MS = 10_000
/** Of the metrics of a run. */
const MAX_ROWS = 400
const TASK_FIGURES = {
  mean_score: 'Mean score, whole run',
  mean_reward: 'Mean reward, whole run',
  difficulty: 'Latest difficulty',
}

const CHARTS = [
  { title: 'Reward', getValue: (step) => step['reward/mean'] },
  { title: 'Correct rollouts', getValue: (step) => step['score/frac_correct'], format: formatPercent, range: [0, 1] },
  { title: 'Groups with signal', getValue: (step) => step['signal/frac'], format: formatPercent, range: [0, 1] },
  { title: 'Format faults', getValue: sumFaults, format: formatPercent, range: [0, 0.05] },
  {
    title: 'Completion length in tokens',
    getValue: (step) => step['length/mean'],
    format: formatCompact,
    range: [0, 0],
  },
]

export function CompareRunsPage() {
  const [names] = useQueryField('runs')
  const wanted = useMemo(() => parseRunNames(names, MAX_COMPARED_RUNS), [names])
  const known = useRef(new Map())
  // One after the other, so that a timeout keeps what was loaded before it.
  const load = async (_path, options) => {
    for (const name of wanted) known.current.set(name, await loadRun(name, known.current.get(name), options))
    return wanted.map((name) => known.current.get(name))
  }
  const { value, problem } = useResource(wanted.length === 0 ? null : `runs?${String(names)}`, {
    load,
    everyMs: RELOAD_MS,
  })
  const [by, setBy] = useQueryField('by')
  const { found, groups, hasSeeds } = useMemo(() => arrangeRuns(value ?? [], by), [value, by])
  return html`
    <${PageHeader} title=${`Comparison of ${pluralize(wanted.length, 'run')}`} about="Metrics by training step, settings and tasks. Each run keeps its color on this page. Runs whose settings differ in the seed only share one: their line is the mean, and the band one standard error on each side.">
      <a class="end" href="#/runs">All runs</a>
    <//>
    ${wanted.length === 0 && html`<${Panel}><${EmptyState}>Select runs in the <a href="#/runs">list of runs</a> to compare them.<//><//>`}
    ${problem && html`<${ErrorMessage} problem=${problem} />`}
    ${wanted.length > 0 && !value && !problem && html`<${Loading} />`}
    ${(value ?? []).filter((one) => one.problem).map((one) => html`<${ErrorMessage} problem=${one.problem} />`)}
    ${
      found.length > 0 &&
      html`
      ${hasSeeds && html`<div class="filters"><${SegmentedControl} label="Lines" value=${by} onChange=${setBy} options=${{ '': 'Mean of seeds', run: 'Each run' }} /></div>`}
      <${Panel} title="The runs"><${DataTable} label="The runs" rows=${found} columns=${RUN_COLUMNS} /><//>
      <${Metrics} runs=${found} groups=${groups} />
      <${Settings} runs=${found} />
      <${Tasks} runs=${found} />
    `
    }
  `
}

/** `groups`: lists of the places of runs that share a line and its color. */
function arrangeRuns(loaded, by) {
  const found = loaded.filter(({ run }) => run)
  const seeds = groupBySeed(found)
  const lists = by === 'run' ? found.map((run) => [run]) : seeds
  const groups = lists.map((list) => list.map((run) => found.indexOf(run)))
  const colored = found.map((run, k) => ({ ...run, color: groups.findIndex((group) => group.includes(k)) }))
  return { found: colored, groups, hasSeeds: seeds.length < found.length }
}

/**
 * Loads what is compared of one run, and of the same run `before` only what is new. A run that cannot be loaded leaves the others
 * as they are.
 */
async function loadRun(name, before, options) {
  const path = `runs/${encodeURIComponent(name)}`
  try {
    const run = await fetchJson(path, options)
    const isSame = before?.run?.incarnation === run.incarnation && before.run.progress.step <= run.progress.step
    if (isSame && JSON.stringify(before.run.progress) === JSON.stringify(run.progress)) return { ...before, run }
    const old = isSame && isRecent(before.at) ? before.rows : []
    const rows = await refreshMetricRows(`${path}/metrics?points=${MAX_ROWS}`, old, options)
    // merged, a run that names no steps has rows by time; as a whole it is at step 0
    const start = rows[0] && !('step' in rows[0]) ? await readNdjson(`${path}/metrics?to=0`, options) : []
    const { points } = await fetchJson(`${path}/history`, options)
    return {
      name,
      run,
      at: Date.now(),
      rows,
      steps: start.length > 0 ? start : rows,
      difficulties: listDifficulties(points),
    }
  } catch (problem) {
    if (!(problem instanceof ApiError) || (problem.status !== 404 && problem.status !== 403)) throw problem
    return { name, problem }
  }
}

const RUN_COLUMNS = [
  ['run', drawName, 'name'],
  [
    'state',
    ({ run: { state, lifecycle, warnings } }) =>
      html`<${RunStateChips} state=${state} lifecycle=${lifecycle} warnings=${warnings.length} why=${warnings[0]?.why} />`,
    'from-m',
  ],
  ['forked from', ({ run }) => drawOrigin(run), 'from-m'],
  ['step', ({ run }) => formatCount(run.progress.step), 'num'],
  ['rollouts', ({ run }) => formatCount(run.progress.rollouts), 'num from-m'],
  ['reward, last 10+ steps', ({ run, steps }) => formatDecimal(getLatest(run, steps, 'reward'), 3), 'num'],
  ['whole run', ({ run }) => formatDecimal(getMean(run.tasks, 'mean_reward'), 3), 'num from-m'],
  ['score, last 10+ steps', ({ run, steps }) => formatDecimal(getLatest(run, steps, 'score'), 3), 'num'],
  ['whole run', ({ run }) => formatDecimal(getMean(run.tasks, 'mean_score'), 3), 'num from-m'],
]

/** A run of fewer steps has the mean of all of them. */
function getLatest({ tasks }, steps, key) {
  const latest = summarizeLatest(steps)
  return latest ? latest[key] : getMean(tasks, `mean_${key}`)
}

/** Up to this step, the metrics of both runs are the same. */
function drawOrigin({ forked_from: origin }) {
  if (!origin) return '–'
  return origin.step === null ? origin.run : `${origin.run}, step ${formatCount(origin.step)}`
}

function drawName({ name, color }) {
  return html`<${Swatch} k=${color} /><a href=${`#/runs/${encodeURIComponent(name)}`}>${name}</a>`
}

/** The color of a run. */
function Swatch({ k }) {
  return html`<i class="swatch" style=${{ background: `var(--series-${(k % 5) + 1})` }}></i>`
}

function Metrics({ runs, groups }) {
  const tools = useChartTools('runs', { subject: runs.map(({ name }) => name).join(' and ') })
  const marks = useMemo(() => listForkMarks(runs), [runs])
  const charts = useMemo(() => buildCharts(runs, groups), [runs, groups])
  const { x } = alignSteps(
    runs.flatMap(({ steps, difficulties }) => [steps, difficulties]),
    () => null,
  )
  const columns = [
    { name: 'step', values: x },
    ...charts.flatMap((chart) =>
      chart.series.flatMap(({ name, values, band }) => {
        const places = new Map(chart.x.map((step, k) => [step, k]))
        const lines = Object.entries({ '': values, ...(band && { ', low': band.low, ', high': band.high }) })
        return lines.map(([edge, line]) => ({
          name: `${chart.title}, ${name}${edge}`,
          values: x.map((step) => line[places.get(step) ?? -1] ?? null),
        }))
      }),
    ),
  ]
  return html`<${Panel} title="Over training">
    <${ChartToolbar} tools=${tools} columns=${columns} name="runs" />
    <${MarkList} marks=${marks} />
    <div class="charts">${charts.map((chart) => html`<${Chart} key=${chart.title} ...${chart} marks=${marks} tools=${tools} height=${160} />`)}</div>
  <//>`
}

/** Up to its mark, a fork has the steps of the run that it comes from. */
function listForkMarks(runs) {
  return runs.flatMap(({ name, run: { forked_from: origin } }) =>
    typeof origin?.step === 'number' ? [{ at: origin.step, text: `${name} was forked from ${origin.run}` }] : [],
  )
}

/** Each chart shows one metric of all runs. A run without the metric keeps its place in the legend, so that colors stay. */
function buildCharts(runs, groups) {
  const difficulty = {
    title: 'Mean difficulty',
    getValue: (point) => point.difficulty,
    range: [0, 1],
    format: formatDecimal,
  }
  const charts = [...CHARTS, difficulty].map(({ title, getValue, format = formatDecimal, range }) => {
    const points = runs.map((run) => (title === difficulty.title ? run.difficulties : run.steps))
    const { x, values } = alignSteps(points, getValue)
    const series = groups.map((places, color) => {
      const [names, lines] = [places.map((k) => runs[k].name), places.map((k) => values[k])]
      return places.length === 1
        ? { name: names[0], values: lines[0], color }
        : { name: nameSeeds(names), ...averageLines(lines), color }
    })
    return { title, x, format, range, series }
  })
  const hasData = ({ series }) => series.some(({ values }) => values.some((value) => value !== null))
  return charts.filter((chart, k) => k === 0 || hasData(chart))
}

function Settings({ runs }) {
  const [shown, setShown] = useQueryField('settings', 'differing')
  const rows = compareSettings(runs.map(({ run }) => omitIgnoredSettings(run.settings)))
  const differing = rows.filter(({ differs }) => differs)
  const visible = shown === 'all' ? rows : differing
  const columns = [
    ['setting', ({ name }) => html`<code>${name}</code>`],
    ...runs.map(({ name }, k) => [name, ({ values }) => html`<code>${shorten(values[k])}</code>`, 'name']),
  ]
  return html`<${Panel} title="Settings">
    <div class="filters">
      <${SegmentedControl} label="Settings to show" value=${shown} onChange=${setShown} options=${{
        differing: `Differing (${formatCount(differing.length)})`,
        all: `All (${formatCount(rows.length)})`,
      }} />
    </div>
    ${visible.length === 0 && html`<${EmptyState}>All settings are equal.<//>`}
    ${visible.length > 0 && html`<${DataTable} label="Settings" rows=${visible} columns=${columns} getProps=${({ differs }) => ({ class: differs ? 'differs' : null })} />`}
  <//>`
}

const MAX_VALUE_CHARS = 160

function shorten(text = '–') {
  return text.length > MAX_VALUE_CHARS
    ? `${text.slice(0, MAX_VALUE_CHARS)}… (${formatCount(text.length)} characters)`
    : text
}

function Tasks({ runs }) {
  const [field, setField] = useQueryField('figure', 'mean_score')
  const [order, setOrder] = useQueryField('sort', 'task')
  const sortColumns = Object.fromEntries([
    ['task', ({ task }) => task],
    ['difference', ({ difference }) => difference],
    ...runs.map((_run, k) => [`run${k}`, ({ values }) => values[k]]),
  ])
  const tasks = runs.map(({ run }) => run.tasks)
  const rows = sortRows(compareTasks(tasks, field), sortColumns, order)
  const drawRun = ({ name, color }, k) => [
    html`<${Swatch} k=${color} />${name}`,
    ({ values }) => formatDecimal(values[k], 3),
    'num from-m',
    { name: `run${k}` },
  ]
  const drawTask = ({ task, values }) =>
    html`${task}<small class="until-m">${values.map((value) => formatDecimal(value, 3)).join(' · ')}</small>`
  const columns = [
    ['task', drawTask, 'name', { name: 'task', up: true }],
    ...runs.map(drawRun),
    runs.length > 1 && ['difference', ({ difference }) => formatSigned(difference), 'num', { name: 'difference' }],
  ]
  return html`<${Panel} title="Tasks" about=${runs.length > 1 ? `The difference is that of ${runs.at(-1).name} to ${runs[0].name}.` : undefined}>
    <div class="filters"><${SegmentedControl} label="Figure" value=${field} onChange=${setField} options=${TASK_FIGURES} /></div>
    <${DataTable} label="Tasks" rows=${rows} columns=${columns} order=${order} onOrder=${setOrder} getProps=${({ task }) => ({ key: task })} />
  <//>`
}
