/** Charts of a run's metrics by training step. */
import { formatCompact, formatDecimal, formatPercent } from '../format.js'
import { html, useMemo } from '../html.js'
import { Chart } from './chart.js'
import { ErrorMessage, Loading, Panel } from './common.js'

const formatShare = (value) => formatPercent(value)

const CHARTS = [
  {
    title: 'Reward',
    series: [
      ['reward', 'reward/mean'],
      ['score', 'score/mean'],
    ],
  },
  { title: 'Correct rollouts', format: formatShare, range: [0, 1], series: [['correct', 'score/frac_correct']] },
  {
    title: 'Groups with signal',
    format: formatShare,
    range: [0, 1],
    series: [
      ['with signal', 'signal/frac'],
      ['too easy', 'signal/frac_easy'],
      ['too hard', 'signal/frac_hard'],
    ],
  },
  {
    title: 'Format faults',
    format: formatShare,
    range: [0, 0.05],
    series: [
      ['no answer', 'fault/no_answer'],
      ['several answers', 'fault/many_answers'],
      ['unclosed answer', 'fault/unclosed_answer'],
      ['unclosed thinking', 'fault/unclosed_think'],
      ['invalid answer', 'fault/invalid_answer'],
    ],
  },
  {
    title: 'Completion length in tokens',
    format: formatCompact,
    range: [0, 0],
    series: [
      ['mean', 'length/mean'],
      ['95th percentile', 'length/p95'],
    ],
  },
  {
    title: 'Policy lag in steps',
    range: [0, 1],
    series: [
      ['mean', 'lag/mean'],
      ['max', 'lag/max'],
    ],
  },
]

export function StepCharts({ steps, problem }) {
  const x = useMemo(() => (steps ?? []).map((step, k) => step.step ?? k), [steps])
  if (problem && !steps)
    return html`<${Panel} title="Over training"><${ErrorMessage} problem=${problem} absent="This server does not support metrics by step." /><//>`
  if (!steps) return html`<${Panel} title="Over training"><${Loading} /><//>`
  return html`<${Panel} title="Over training">
    <div class="charts">
      ${CHARTS.map(({ title, series, format = formatDecimal, range }) => html`<${StepChart} title=${title} x=${x} steps=${steps} wanted=${series} format=${format} range=${range} />`)}
    </div>
  <//>`
}

function StepChart({ title, x, steps, wanted, format, range }) {
  const series = useMemo(() => {
    const all = wanted.map(([name, key]) => ({ name, values: (steps ?? []).map((step) => step[key] ?? null) }))
    const known = all.filter(({ values }) => values.some((value) => value !== null))
    return known.length > 0 ? known : all.slice(0, 1)
  }, [steps])
  return html`<${Chart} title=${title} x=${x} series=${series} format=${format} range=${range} height=${140} />`
}
