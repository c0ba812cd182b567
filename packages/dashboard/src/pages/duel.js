/** One duel: which of two models is better on the same items. */
import { downloadFile, fetchJson } from '../api.js'
import { useResource } from '../data-hooks.js'
import { isActive } from '../eval-facts.js'
import { compareByName, formatCount, formatDecimal, formatPercent, formatSigned, pluralize } from '../format.js'
import { html, useState } from '../html.js'
import {
  ConnectionLostBanner,
  ErrorMessage,
  PageHeader,
  Panel,
  RelativeTime,
  StatTiles,
  StatusBanner,
  StatusChip,
  showPending,
  Tile,
} from '../parts/common.js'
import { DataTable } from '../parts/table.js'

export function DuelPage({ name: id }) {
  const path = `duels/${encodeURIComponent(id)}`
  const [over, setOver] = useState(false)
  const { value, problem, reload, at } = useResource(path, over ? {} : { everyMs: 1500 })
  const [trouble, setTrouble] = useState(undefined)
  const isOver = value !== undefined && !isActive(value.status)
  if (isOver !== over) setOver(isOver)
  if (!value) return showPending({ title: id, list: 'evals', problem, absent: 'This server does not support duels.' })
  const { result, a, b, progress } = value
  const cancel = () => fetchJson(path, { method: 'DELETE' }).then(reload, setTrouble)
  return html`
    <${PageHeader} title=${`${a.name} vs. ${b.name}`} about=${html`${id}, on ${pluralize(value.tasks, 'task')}, created <${RelativeTime} at=${value.created_at} />`}>
      <${StatusChip} value=${value} />
      <span class="end">
        ${isOver ? html`<button type="button" onClick=${() => downloadFile(`${path}/report`, `${id}.md`).catch(setTrouble)}>Report</button>` : html`<button type="button" onClick=${cancel}>Cancel</button>`}
      </span>
    <//>
    ${trouble && html`<${ErrorMessage} problem=${trouble} />`}
    ${problem && html`<${ConnectionLostBanner} at=${at} problem=${problem} />`}
    ${value.detail && html`<${StatusBanner} tone="bad" is=${value.status} why=${value.detail} />`}
    ${result && html`<${Standing} duel=${value} />`}
    ${!isOver && html`<p class="soft">${formatCount(progress.done)} of at most ${formatCount(progress.total)} samples.</p>`}
    ${(result?.warnings ?? []).map((warning) => html`<${StatusBanner} tone="warn" is="note" why=${warning} />`)}
    ${result && html`<${Panel} title="Results by task" about="For information only. The statistical test covers all tasks together."><${Tasks} tasks=${result.tasks} /><//>`}
  `
}

function Standing({ duel: { a, b, alpha, smallest_difference, result } }) {
  const { confidence_sequence: bounds } = result
  return html`
    <${StatusBanner} tone=${result.ended_by === 'winner' ? 'good' : ''} is=${getConclusion(result)} why=${explain(result, { a, b, smallest_difference })} />
    <${StatTiles}>
      <${Tile} name=${`a: ${a.name}`} value=${formatDecimal(result.a.mean_score, 3)} note=${`lift ${formatDecimal(result.a.lift, 3)}`} />
      <${Tile} name=${`b: ${b.name}`} value=${formatDecimal(result.b.mean_score, 3)} note=${`lift ${formatDecimal(result.b.lift, 3)}`} />
      <${Tile} name="Difference" value=${formatSigned(result.difference)} note=${bounds && `${formatPercent(1 - alpha)} interval: ${formatSigned(bounds[0])} to ${formatSigned(bounds[1])}`} />
      <${Tile} name="e-value" value=${formatDecimal(Math.min(result.e_value, 1e6), 1)} note=${`p ${formatDecimal(result.p, 3)}, valid at any time`} />
      <${Tile} name="Items" value=${formatCount(result.items)} note=${result.skipped > 0 && `${formatCount(result.skipped)} skipped: not scored for both models`} />
    <//>
  `
}

function getConclusion({ ended_by, verdict }) {
  if (ended_by === null) return 'undecided'
  if (ended_by !== 'winner') return 'no difference found'
  return verdict === 'a_better' ? 'a is better' : 'b is better'
}

function explain({ ended_by, verdict, items }, { a, b, smallest_difference }) {
  const after = `after ${pluralize(items, 'item')}`
  if (ended_by === 'winner') return `${verdict === 'a_better' ? a.name : b.name} is significantly better ${after}`
  if (ended_by === 'equivalence') return `The difference is smaller than ${smallest_difference} ${after}`
  if (ended_by === null) return `The duel is still running ${after}`
  return `Neither model is shown to be better ${after}`
}

function Tasks({ tasks }) {
  const sorted = Object.entries(tasks).toSorted(
    ([one, x], [other, y]) => (y.difference ?? 0) - (x.difference ?? 0) || compareByName(one, other),
  )
  return html`<${DataTable} label="Results by task" rows=${sorted} columns=${[
    ['task', ([name]) => name],
    ['a', ([, { a }]) => formatDecimal(a.mean_score, 3), 'num'],
    ['b', ([, { b }]) => formatDecimal(b.mean_score, 3), 'num'],
    ['difference', ([, { difference }]) => formatSigned(difference), 'num'],
    ['items', ([, { items }]) => formatCount(items), 'num'],
  ]} />`
}
