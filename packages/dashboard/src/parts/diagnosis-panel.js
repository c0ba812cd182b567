/** Indicators of reward hacking and collapse in the last groups. Tasks with a warning come first. */
import { formatCount, formatDecimal, formatPercent, humanize } from '../format.js'
import { html } from '../html.js'
import { foldWarnings } from '../run-facts.js'
import { Chip, EmptyState, Panel } from './common.js'
import { DataTable } from './table.js'

/** Maximum number of tasks without a warning, those closest to guessing first. */
const MAX_TASKS = 10

/** Heading, formatted value, and the kind of warning that concerns it. */
/** @type {[name: string, format: (diagnosis: any) => any, warning?: string][]} */
const COLUMNS = [
  ['groups', ({ groups }) => formatCount(groups)],
  ['answer entropy (bits)', ({ answer_entropy }) => formatDecimal(answer_entropy), 'collapsed'],
  ['constant groups', ({ constant_groups }) => formatPercent(constant_groups)],
  ['score', ({ mean_score }) => formatDecimal(mean_score)],
  ['guess floor', ({ guess_floor }) => formatDecimal(guess_floor)],
  ['lift', ({ lift }) => formatDecimal(lift)],
  ['hack gap', ({ hack_gap }) => formatDecimal(hack_gap), 'hack_gap'],
  ['permuted score', ({ permuted_score }) => formatDecimal(permuted_score), 'permuted'],
]

export function DiagnosisPanel({ run }) {
  const { diagnosis, warnings, tasks } = run
  return html`<${Panel}
    title="Diagnosis"
    about="Statistics of the last 50 groups of each task. Lift is 0 at the guess floor and 1 if all answers are correct. The hack gap is the part of the score that upstream scoring grants and hardened scoring does not. The permuted score is the score of the answers on other items of the task, which shows what answers earn without the question."
  >
    ${warnings.length > 0 && html`<${Warnings} run=${run.run} warnings=${warnings} />`}
    ${diagnosis.groups === 0 ? html`<${EmptyState}>The server has not scored any group of this run yet.<//>` : html`<${DiagnosisTable} all=${diagnosis} tasks=${tasks} warnings=${warnings} />`}
  <//>`
}

/** One row for each kind, with links to the groups of each task that it is about. */
function Warnings({ run, warnings }) {
  const draw = ({ kind, why, tasks }) => {
    const [first, ...more] = tasks
    const link = (task, text) =>
      html`<a href=${`#/runs/${encodeURIComponent(run)}/groups${task === null ? '' : `?task=${encodeURIComponent(task)}`}`}>${text}</a> `
    return html`<li><${Chip} tone="bad">${humanize(kind)}<//> ${why} ${link(first, 'Groups')}${more.length > 0 && html`<span>Also: ${more.map((task) => link(task, task))}</span>`}</li>`
  }
  return html`<ul class="bullets">${foldWarnings(warnings).map(draw)}</ul>`
}

function DiagnosisTable({ all, tasks, warnings }) {
  const kindsOf = (task) => warnings.filter((warning) => warning.task === task).map(({ kind }) => kind)
  const lift = ({ diagnosis }) => diagnosis.lift ?? diagnosis.mean_score ?? 1
  const sorted = Object.entries(tasks)
    .filter(([, { diagnosis }]) => diagnosis?.groups > 0)
    .toSorted(([a, x], [b, y]) => kindsOf(b).length - kindsOf(a).length || lift(x) - lift(y))
  const shown = sorted.slice(0, MAX_TASKS + new Set(warnings.map(({ task }) => task)).size)
  const rows = [
    { name: 'all tasks', diagnosis: all, kinds: [] },
    ...shown.map(([name, { diagnosis }]) => ({ name, diagnosis, kinds: kindsOf(name) })),
  ]
  const drawFigure =
    (format, kind) =>
    ({ diagnosis, kinds }) =>
      kinds.includes(kind) ? html`<${Chip} tone="bad">${format(diagnosis)}<//>` : format(diagnosis)
  return html`<${DataTable} label="Diagnosis by task" rows=${rows} columns=${[
    ['task', ({ name }) => name],
    ...COLUMNS.map(([name, format, kind]) => [name, drawFigure(format, kind), columnClass(name)]),
    ['most common answer', drawTopAnswer, 'from-l'],
  ]} />`
}

function drawTopAnswer({ diagnosis: { top_answer: top } }) {
  return top
    ? html`${top.text === '' ? 'no answer' : html`<bdi><code>${top.text}</code></bdi>`} ${formatPercent(top.share)}`
    : '–'
}

/** Narrow tables keep what says how good the answers are. */
function columnClass(name) {
  return ['score', 'lift', 'guess floor'].includes(name) ? 'num' : 'num from-l'
}
