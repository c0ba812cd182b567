/** The figures of a run's tasks, sortable by clicking a heading. Folded if there are many, because the heat map shows all. */
import { formatCount, formatDecimal, formatPercent, pluralize } from '../format.js'
import { useQueryField } from '../hooks.js'
import { html, useState } from '../html.js'
import { EmptyState, Panel } from './common.js'
import { RelativeTime } from './relative-time.js'
import { Table } from './table.js'

const countFormatErrors = ({ faults }) =>
  faults === undefined || faults === null
    ? null
    : typeof faults === 'number'
      ? faults
      : Object.values(faults).reduce((a, b) => a + b, 0)

/** @type {[name: string, read: (row: any) => any, format: (value: any) => any][]} */
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

/** With more tasks than this, the table is folded. */
const MAX_OPEN = 12

export function TasksTable({ tasks }) {
  const [find] = useQueryField('find') // of the heat map
  const wanted = find.trim().toLowerCase().replaceAll(' ', '_')
  const rows = Object.entries(tasks).filter(([task]) => task.includes(wanted))
  const [unfolded, setUnfolded] = useState(undefined)
  const isOpen = unfolded ?? rows.length <= MAX_OPEN
  const turn = (event) => {
    event.preventDefault() // the rows of a folded table are not made
    setUnfolded(!isOpen)
  }
  return html`<${Panel} title="Tasks">
    <details class="fold" open=${isOpen}>
      <summary onClick=${turn}>All figures of ${pluralize(rows.length, 'task')}</summary>
      ${isOpen && html`<${Rows} rows=${rows} />`}
    </details>
  <//>`
}

function Rows({ rows }) {
  const [by, setBy] = useQueryField('by', 'groups')
  const [direction, setDirection] = useQueryField('direction')
  if (rows.length === 0) return html`<${EmptyState}>The server has not scored any group of this run yet.<//>`
  const columns = COLUMNS.filter(([, value]) =>
    rows.some(([, task]) => value(task) !== null && value(task) !== undefined),
  )
  const [, key] = columns.find(([name]) => name === by) ?? columns[0]
  const up = direction === 'up'
  const sorted = rows.toSorted(
    ([a, x], [b, y]) => ((key(y) ?? -1) - (key(x) ?? -1)) * (up ? -1 : 1) || (a < b ? -1 : 1),
  )
  return html`<${Table} label="Tasks">
      <thead>
        <tr>
          <th>task</th>
          ${columns.map(
            ([
              name,
            ]) => html`<th class=${columnClass(name, by)} aria-sort=${name === by ? (up ? 'ascending' : 'descending') : null}>
              <button class="sort" type="button" onClick=${() => {
                setBy(name)
                setDirection(name === by && !up ? 'up' : '')
              }}>${name}${name === by ? (up ? ' ↑' : ' ↓') : ''}</button>
            </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${sorted.map(
          ([name, task]) => html`<tr>
            <th scope="row"><a href=${`#/tasks/${name}`}>${name}</a></th>
            ${columns.map(([column, value, format]) => html`<td class=${columnClass(column, by)}>${format(value(task))}</td>`)}
          </tr>`,
        )}
      </tbody>
    <//>`
}

/** Narrow tables keep the figures that say how good the answers are, and the column that sorts. */
function columnClass(name, by) {
  return name === by || ['mean reward', 'accuracy'].includes(name) ? 'num' : 'num from-l'
}
