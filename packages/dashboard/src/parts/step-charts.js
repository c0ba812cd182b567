/** Charts of a run's metrics over its training steps or over time. */
import { isSameLine } from '../chart-data.js'
import { formatCompact, formatCount, formatDecimal, formatPercent, humanize } from '../format.js'
import { setQuery, useQueryField } from '../hooks.js'
import { html, useMemo } from '../html.js'
import { Chart, ChartToolbar, MarkList, useChartTools } from './chart.js'
import { EmptyState, ErrorMessage, Loading, Panel, SegmentedControl, StatTiles, Tile } from './common.js'
import { getServerUrl } from './copy.js'

const CHARTS = [
  {
    title: 'Reward',
    help: 'The reward is what the trainer learns from: the score of the answer and all bonuses and penalties. The line of the score is dashed, and left out where the two are equal.',
    series: { reward: 'reward/mean', score: 'score/mean' },
  },
  { title: 'Correct rollouts', format: formatPercent, range: [0, 1], series: { correct: 'score/frac_correct' } },
  {
    title: 'Groups with signal',
    help: 'The rollouts of a group answer the same question. If all of them are right (too easy) or all are wrong (too hard), their advantages are 0 and the group teaches nothing.',
    format: formatPercent,
    range: [0, 1],
    series: { 'with signal': 'signal/frac', 'too easy': 'signal/frac_easy', 'too hard': 'signal/frac_hard' },
  },
  {
    title: 'Pass@k',
    help: 'The chance that at least one of k rollouts of a group is right. If it stays flat while the share of correct rollouts rises, training sharpens what the model could already do.',
    format: formatPercent,
    range: [0, 1],
    optional: true,
    series: findPassSeries,
  },
  {
    title: 'Format faults',
    help: 'The share of rollouts whose answer could not be read as the run asks for it.',
    format: formatPercent,
    range: [0, 0.05],
    series: {
      'no answer': 'fault/no_answer',
      'several answers': 'fault/many_answers',
      'unclosed answer': 'fault/unclosed_answer',
      'unclosed thinking': 'fault/unclosed_think',
      'invalid answer': 'fault/invalid_answer',
    },
  },
  {
    title: 'Completion length in tokens',
    format: formatCompact,
    range: [0, 0],
    optional: true, // trainers may send texts without their lengths
    series: { mean: 'length/mean', '95th percentile': 'length/p95' },
  },
  {
    title: 'Policy lag in steps',
    help: 'How many steps the policy that wrote a rollout is behind the trainer when the batch is composed. 0 is on-policy.',
    range: [0, 1],
    optional: true, // runs without steps have none
    isDull: (value) => value === 0,
    series: { mean: 'lag/mean', max: 'lag/max' },
  },
]

/** `marks`: what happened to the run, from the API. */
export function StepCharts({ run, steps, marks: all, problem }) {
  const name = run.run
  const [axis] = useQueryField('axis')
  const prepared = useMemo(() => prepareCharts(steps ?? [], axis === 'time'), [steps, axis])
  const tools = useChartTools('training', { time: prepared.time, subject: name })
  const marks = useMemo(() => placeMarks(run, all ?? [], prepared.time), [run.forked_from, all, prepared.time])
  return useMemo(
    () => drawPanel({ steps, problem, name, prepared, marks, tools }),
    [steps, problem, name, prepared, marks, tools],
  )
}

function drawPanel({ steps, problem, name, prepared, marks, tools }) {
  if (problem && !steps)
    return html`<${Panel} title="Over training"><${ErrorMessage} problem=${problem} absent="This server does not support metrics by step." /><//>`
  if (!steps) return html`<${Panel} title="Over training"><${Loading} /><//>`
  const { x, time, charts, columns } = prepared
  if (x.length < 2 || x[0] === x.at(-1))
    return html`<${Panel} title="Over training"><${MarkList} marks=${marks} time=${time} /><${FirstPoint} steps=${steps} charts=${charts} /><//>`
  return html`<${Panel} title="Over training">
    ${steps.at(-1).step !== undefined && html`<div class="filters"><${SegmentedControl} label="Axis" value=${time ? 'time' : ''} options=${{ '': 'Steps', time: 'Time' }} onChange=${(axis) => setQuery({ axis, from: '', to: '' })} /></div>`}
    <${ChartToolbar} tools=${tools} columns=${columns} name=${name} />
    <${MarkList} marks=${marks} time=${time} />
    <div class="charts">
      ${charts.map((chart) => html`<${Chart} key=${chart.title} ...${chart} x=${x} time=${time} marks=${marks} tools=${tools} height=${140} />`)}
    </div>
  <//>`
}

/** The metrics of a single step as figures, because a line needs two points. */
function FirstPoint({ steps, charts }) {
  if (steps.length === 0) return html`<${EmptyState}>The charts begin with the first batch. Lines need two steps.<//>`
  const known = charts.flatMap(({ title, series, format = formatDecimal }) =>
    series
      .slice(0, 1)
      .filter(({ values }) => values.at(-1) !== null)
      .map(({ name, values }) => [title, format(values.at(-1)), name]),
  )
  const [{ step }] = steps
  return html`
    <p class="soft">${step === undefined ? 'One point so far.' : `Only step ${formatCount(step)} so far.`} Lines begin with the second.</p>
    <${StatTiles}>${known.map(([title, value, name]) => html`<${Tile} name=${title} value=${value} note=${name} />`)}<//>
  `
}

/** x is in seconds since 1970 if the rows have times in place of steps. */
/** A group that is late may count for an earlier step, but time only goes forward. */
function prepareCharts(steps, isTimed) {
  const time = steps.length > 0 && steps.every((row) => row.time > 0 && (isTimed || row.step === undefined))
  const x = steps.map((row, k) => (time ? row.time : (row.step ?? k)))
  for (let k = 1; k < x.length; k++) x[k] = Math.max(x[k], x[k - 1])
  const charts = CHARTS.map(({ series, optional, isDull = () => false, ...chart }) => {
    const wanted = typeof series === 'function' ? series(steps) : series
    const all = Object.entries(wanted).map(([name, key], color) => ({
      name,
      color,
      values: steps.map((step) => step[key] ?? null),
    }))
    const known = all.filter(({ values }) => values.some((value) => value !== null && !isDull(value)))
    return { ...chart, series: mergeScore(known.length > 0 || optional ? known : all.slice(0, 1)) }
  }).filter(({ series }) => series.length > 0)
  const columns = [
    { name: time ? 'time' : 'step', values: time ? x.map((s) => new Date(s * 1000).toISOString()) : x },
    ...charts.flatMap(({ title, series }) => series.map(({ name, values }) => ({ name: `${title}: ${name}`, values }))),
  ]
  return { x, time, charts, columns }
}

const MARK_NAMES = {
  settings: 'settings',
  curriculum_reset: 'curriculum reset',
  rewind: 'rewind',
  warning: 'noticed',
}

/** Over steps, what happened before the first batch has no mark. A fork has the steps of its origin up to where it begins. */
function placeMarks({ run, forked_from: origin }, marks, time) {
  const shown = marks.filter(({ step }) => time || step !== null)
  const address = `#/runs/${encodeURIComponent(run)}/groups`
  const fork = {
    at: origin?.step,
    text: `forked from ${origin?.run}`,
    href: `#/runs/${encodeURIComponent(origin?.run)}`,
  }
  return [
    ...(!time && typeof origin?.step === 'number' ? [fork] : []),
    ...shown.map(({ kind, step, at, text, task }) => ({
      at: time ? Date.parse(at) / 1000 : step,
      text: `${MARK_NAMES[kind]}: ${kind === 'warning' ? `${humanize(text)} of ${task}` : text}`,
      ...(kind === 'warning' && {
        tone: 'bad',
        href: `${address}?${new URLSearchParams({ task })}`,
        rewind: step > 0 && `npx reasoning-gym-server runs rewind ${run} ${step - 1} --url ${getServerUrl()}`,
      }),
    })),
  ]
}

/** Draws the score dashed, or leaves it out where it coincides with the reward. */
function mergeScore(series) {
  const [reward, score] = series
  if (reward?.name !== 'reward' || !score) return series
  if (isSameLine(reward.values, score.values)) return [{ ...reward, name: 'reward and score' }]
  return [reward, { ...score, dashed: true }]
}

function findPassSeries(steps) {
  const last = steps.at(-1) ?? {}
  const known = Object.keys(last)
    .flatMap((key) => /^pass_at\/(\d+)$/.exec(key)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)
    .slice(0, 5)
  return Object.fromEntries(known.map((k) => [`k = ${k}`, `pass_at/${k}`]))
}
