/** The tasks of a run, a row each; a click on a heading sorts. */
import { count, fixed, percent, words } from '../format.js'
import { html, useState } from '../html.js'
import { Empty } from './bits.js'
import { Table } from './table.js'
import { Time } from './time.js'

const faultsOf = ({ faults }) =>
  faults === undefined || faults === null
    ? null
    : typeof faults === 'number'
      ? faults
      : Object.values(faults).reduce((a, b) => a + b, 0)

const COLUMNS = [
  ['groups', ({ groups }) => groups, count],
  ['mean reward', ({ mean_reward }) => mean_reward, fixed],
  ['difficulty', ({ difficulty }) => difficulty, fixed],
  ['accuracy', ({ accuracy }) => accuracy, (value) => percent(value)],
  ['with signal', ({ signal, groups }) => (groups > 0 ? signal / groups : null), (value) => percent(value)],
  ['faults', faultsOf, count],
  ['length, 95 %', ({ length_p95 }) => length_p95 ?? null, count],
  ['cut', ({ truncated }) => truncated, count],
  ['last', ({ last_at }) => (last_at ? Date.parse(last_at) : null), (at) => html`<${Time} at=${at} />`],
]

export function TasksTable({ tasks }) {
  const [sort, setSort] = useState({ by: 0, up: false })
  const rows = Object.entries(tasks)
  if (rows.length === 0) return html`<${Empty}>No group has been scored yet.<//>`
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
            <th scope="row"><a href=${`#/tasks/${name}`}>${words(name)}</a></th>
            ${columns.map(([, value, format]) => html`<td class="num">${format(value(task))}</td>`)}
          </tr>`,
        )}
      </tbody>
    <//>`
}
