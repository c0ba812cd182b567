/** The figures of a run's tasks, sortable by clicking a heading. Folded if there are many, because the heat map shows all. */
import { compareByName, formatCount, formatDecimal, formatPercent, pluralize } from '../format.js'
import { useQueryField } from '../hooks.js'
import { html, useState } from '../html.js'
import { arrangeRows } from '../task-order.js'
import { EmptyState, Panel, RelativeTime } from './common.js'
import { DataTable } from './table.js'

/** @type {[name: string, read: (row: any) => any, format: (value: any) => any][]} */
const COLUMNS = [
  ['groups', ({ groups }) => groups, formatCount],
  ['mean reward, whole run', ({ mean_reward }) => mean_reward, formatDecimal],
  ['difficulty', ({ difficulty }) => difficulty, formatDecimal],
  ['difficulty at 50%', ({ place }) => place, formatOnLadder],
  ['guess floor', ({ floor }) => floor, formatPercent],
  ['accuracy, last groups', ({ accuracy }) => accuracy, formatPercent],
  ['with signal', ({ signal, groups }) => (groups > 0 ? signal / groups : null), formatPercent],
  ['learnability', ({ learnability }) => learnability, formatDecimal],
  ['format faults', ({ faults }) => (faults ? sum(Object.values(faults)) : null), formatCount],
  ['length (95th pct.)', ({ length_p95 }) => length_p95 ?? null, formatCount],
  ['truncated', ({ truncated }) => truncated, formatCount],
  ['last group', ({ last_at }) => (last_at ? Date.parse(last_at) : null), (at) => html`<${RelativeTime} at=${at} />`],
]

/** A difficulty that the task may not have: the model fails on its easiest rung, or solves its hardest one. */
function formatOnLadder(difficulty) {
  if (difficulty < 0) return 'below 0'
  return difficulty > 1 ? 'above 1' : formatDecimal(difficulty)
}

const sum = (values) => values.reduce((a, b) => a + b, 0)

/** With more tasks than this, the table is folded. */
const MAX_OPEN = 12

export function TasksTable({ tasks }) {
  const [find] = useQueryField('find') // of the heat map
  const found = arrangeRows(
    Object.keys(tasks).map((task) => ({ task, cells: [] })),
    { find },
  )
  const rows = found.map(({ task }) => [task, tasks[task]])
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
    ([a, x], [b, y]) => ((key(y) ?? -1) - (key(x) ?? -1)) * (up ? -1 : 1) || compareByName(a, b),
  )
  const turn = (order) => {
    setBy(order.replace(/^-/, ''))
    setDirection(order.startsWith('-') ? 'up' : '')
  }
  return html`<${DataTable} label="Tasks" rows=${sorted} order=${up ? `-${by}` : by} onOrder=${turn} columns=${[
    ['task', ([name]) => html`<a href=${`#/tasks/${name}`}>${name}</a>`],
    ...columns.map(([name, value, format]) => [
      name,
      ([, task]) => format(value(task)),
      columnClass(name, by),
      { name },
    ]),
  ]} />`
}

/** Narrow tables keep the figures that say how good the answers are, and the column that sorts. */
function columnClass(name, by) {
  return name === by || ['mean reward, whole run', 'accuracy, last groups'].includes(name) ? 'num' : 'num from-l'
}
