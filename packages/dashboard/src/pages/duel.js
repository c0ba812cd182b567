/** One duel: which of two models is better on the same items. */
import { downloadFile, fetchJson } from '../api.js'
import { useResource } from '../data-hooks.js'
import { describeStatus, isActive } from '../eval-facts.js'
import { compareByName, formatCount, formatDecimal, formatPercent, formatSigned, pluralize } from '../format.js'
import { html, useState } from '../html.js'
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
import { RelativeTime } from '../parts/relative-time.js'
import { Table } from '../parts/table.js'

export function DuelPage({ name: id }) {
  const path = `duels/${encodeURIComponent(id)}`
  const [over, setOver] = useState(false)
  const { value, problem, reload, at } = useResource(path, over ? {} : { everyMs: 1500 })
  const [trouble, setTrouble] = useState(undefined)
  const isOver = value !== undefined && !isActive(value.status)
  if (isOver !== over) setOver(isOver)
  if (problem && !value)
    return html`<${PageHeader} title=${id}><a class="end" href="#/evals">All evals</a><//><${ErrorMessage} problem=${problem} absent="This server does not support duels." />`
  if (!value) return html`<${PageHeader} title=${id} /><${Loading} />`
  const { result, a, b, progress } = value
  const { tone, text } = describeStatus(value)
  const cancel = () => fetchJson(path, { method: 'DELETE' }).then(reload, setTrouble)
  return html`
    <${PageHeader} title=${`${a.name} vs. ${b.name}`} about=${html`${id}, on ${pluralize(value.tasks, 'task')}, created <${RelativeTime} at=${value.created_at} />`}>
      <${Chip} tone=${tone}>${text}<//>
      <span class="end">
        ${isOver ? html`<button type="button" onClick=${() => downloadFile(`${path}/report`, `${id}.html`).catch(setTrouble)}>Report</button>` : html`<button type="button" onClick=${cancel}>Cancel</button>`}
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
  const [low, high] = result.confidence_sequence ?? []
  return html`
    <${StatusBanner} tone=${result.ended_by === 'winner' ? 'good' : ''} is=${getConclusion(result)} why=${explain(result, { a, b, smallest_difference })} />
    <${StatTiles}
      tiles=${[
        [`a: ${a.name}`, formatDecimal(result.a.mean_score, 3), `lift ${formatDecimal(result.a.lift, 3)}`],
        [`b: ${b.name}`, formatDecimal(result.b.mean_score, 3), `lift ${formatDecimal(result.b.lift, 3)}`],
        [
          'Difference',
          formatSigned(result.difference),
          result.confidence_sequence
            ? `${formatPercent(1 - alpha)} interval: ${formatSigned(low)} to ${formatSigned(high)}`
            : undefined,
        ],
        [
          'e-value',
          formatDecimal(Math.min(result.e_value, 1e6), 1),
          `p ${formatDecimal(result.p, 3)}, valid at any time`,
        ],
        [
          'Items',
          formatCount(result.items),
          result.skipped > 0 ? `${formatCount(result.skipped)} skipped: not scored for both models` : undefined,
        ],
      ]}
    />
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
  return html`<${Table} label="Results by task">
    <thead>
      <tr><th>task</th><th class="num">a</th><th class="num">b</th><th class="num">difference</th><th class="num">items</th></tr>
    </thead>
    <tbody>
      ${sorted.map(
        ([name, row]) => html`<tr>
          <th scope="row">${name}</th>
          <td class="num">${formatDecimal(row.a.mean_score, 3)}</td>
          <td class="num">${formatDecimal(row.b.mean_score, 3)}</td>
          <td class="num">${formatSigned(row.difference)}</td>
          <td class="num">${formatCount(row.items)}</td>
        </tr>`,
      )}
    </tbody>
  <//>`
}
