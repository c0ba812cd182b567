/** A table of a run's tasks, sortable by clicking a heading. */
import { formatCount, formatDecimal, formatPercent, humanize } from '../format.js'
import { html, useState } from '../html.js'
import { EmptyState } from './common.js'
import { RelativeTime } from './relative-time.js'
import { Table } from './table.js'

const countFormatErrors = ({ faults }) =>
  faults === undefined || faults === null
    ? null
    : typeof faults === 'number'
      ? faults
      : Object.values(faults).reduce((a, b) => a + b, 0)

const COLUMNS = [
  ['groups', ({ groups }) => groups, formatCount],
  ['mean reward', ({ mean_reward }) => mean_reward, formatDecimal],
  ['difficulty', ({ difficulty }) => difficulty, formatDecimal],
  ['place', ({ place }) => place, formatDecimal],
  ['guess floor', ({ floor }) => floor, (value) => formatPercent(value)],
  ['accuracy', ({ accuracy }) => accuracy, (value) => formatPercent(value)],
  ['with signal', ({ signal, groups }) => (groups > 0 ? signal / groups : null), (value) => formatPercent(value)],
  ['learnability', ({ learnability }) => learnability, formatDecimal],
  ['format faults', countFormatErrors, formatCount],
  ['length (95th pct.)', ({ length_p95 }) => length_p95 ?? null, formatCount],
  ['truncated', ({ truncated }) => truncated, formatCount],
  ['last group', ({ last_at }) => (last_at ? Date.parse(last_at) : null), (at) => html`<${RelativeTime} at=${at} />`],
]

export function TasksTable({ tasks }) {
  const [sort, setSort] = useState({ by: 0, up: false })
  const rows = Object.entries(tasks)
  if (rows.length === 0) return html`<${EmptyState}>The server has not scored any group of this run yet.<//>`
  const columns = COLUMNS.filter(([, value]) =>
    rows.some(([, task]) => value(task) !== null && value(task) !== undefined),
  )
  const [, key] = columns[Math.min(sort.by, columns.length - 1)]
  const sorted = rows.toSorted(
    ([a, x], [b, y]) => ((key(y) ?? -1) - (key(x) ?? -1)) * (sort.up ? -1 : 1) || (a < b ? -1 : 1),
  )
  return html`<${Table} label="Tasks">
      <thead>
        <tr>
          <th>task</th>
          ${columns.map(
            (
              [name],
              k,
            ) => html`<th class="num" aria-sort=${sort.by === k ? (sort.up ? 'ascending' : 'descending') : null}>
              <button class="sort" type="button" onClick=${() => setSort({ by: k, up: sort.by === k && !sort.up })}>${name}${sort.by === k ? (sort.up ? ' ↑' : ' ↓') : ''}</button>
            </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${sorted.map(
          ([name, task]) => html`<tr>
            <th scope="row"><a href=${`#/tasks/${name}`}>${humanize(name)}</a></th>
            ${columns.map(([, value, format]) => html`<td class="num">${format(value(task))}</td>`)}
          </tr>`,
        )}
      </tbody>
    <//>`
}
