/** Accuracy, difficulty, reward or score of every task over training. */

import { useResource, useThrottled } from '../data-hooks.js'
import { compareByName, formatDecimal, formatPercent, formatSigned, formatTime } from '../format.js'
import { setQuery, useColorScheme, useQueryField } from '../hooks.js'
import { html, useEffect, useMemo, useRef } from '../html.js'
import { arrangeRows, ORDERS } from '../task-order.js'
import { Bar } from './bars.js'
import { EmptyState, ErrorMessage, Loading, Panel, SegmentedControl } from './common.js'
import { getCellColor, HeatMap, isDarkColor } from './heat-map.js'
import { FilterSelect } from './list-tools.js'
import { DataTable } from './table.js'

const COLUMNS = 60
/** Rows to show before one asks for all. */
const MAX_ROWS = 20
/** With fewer columns a heat map would show full bars that look like 100%. */
const MIN_COLUMNS = 3
const REFRESH_INTERVAL_MS = 3000
/** The columns of a long run span many steps, so that a few seconds change little. */
const LONG_REFRESH_INTERVAL_MS = 15_000

const METRICS = {
  accuracy: { name: 'Accuracy', format: formatPercent },
  difficulty: { name: 'Difficulty', format: formatDecimal },
  reward: { name: 'Reward', format: formatDecimal },
  score: { name: 'Score', format: formatDecimal },
}

const METRIC_NAMES = Object.fromEntries(Object.entries(METRICS).map(([key, { name }]) => [key, name]))

/** `path`: of the run. */
export function HeatPanel({ run, path }) {
  const [chosen, setChosen] = useQueryField('color', 'accuracy')
  const [order, setOrder] = useQueryField('order', 'worst')
  const [category, setCategory] = useQueryField('category')
  const [find, setFind] = useQueryField('find')
  const [all] = useQueryField('rows')
  const kind = Object.hasOwn(METRICS, chosen) ? chosen : 'accuracy'
  const isLong = (run.progress.step ?? 0) > 4 * COLUMNS
  const version = useThrottled(run.progress.scored_groups, isLong ? LONG_REFRESH_INTERVAL_MS : REFRESH_INTERVAL_MS)
  const { value, problem } = useResource(`${path}/task-metrics?metric=${String(kind)}&columns=${COLUMNS}`, { version })
  const levels = useResource(order === 'stuck' ? `${path}/task-metrics?metric=difficulty&columns=${COLUMNS}` : null, {
    version,
  }).value
  const catalog = useResource('tasks').value?.tasks
  const categories = useMemo(
    () => Object.fromEntries((catalog ?? []).map((task) => [task.name, task.category])),
    [catalog],
  )
  const map = useMemo(() => prepareMap(value), [value])
  const arranged = useMemo(
    () => arrangeRows(map.rows, { order, find, category, categories, difficulties: levels?.tasks }),
    [map, order, find, category, categories, levels],
  )
  const rows = useMemo(() => (all === 'all' ? arranged : arranged.slice(0, MAX_ROWS)), [arranged, all])
  const { format, name } = METRICS[kind]
  const labeled = useMemo(
    () =>
      rows.map((row) => ({
        ...row,
        name: row.task,
        href: `#/tasks/${row.task}`,
        note: order === 'movers' ? formatSigned(row.change) : format(row.last),
      })),
    [rows, order, format],
  )
  const { low } = map
  const count = arranged.length
  const present = useMemo(
    () => [...new Set(map.rows.map(({ task }) => categories[task]))].filter(Boolean).toSorted(compareByName),
    [map, categories],
  )
  const draw = () => html`<${Panel} title="Tasks over training">
    <div class="filters">
      <${SegmentedControl} label="Color metric" value=${kind} options=${METRIC_NAMES} onChange=${setChosen} />
      <${FilterSelect} label="Order" value=${order} options=${ORDERS} onChange=${setOrder} />
      ${present.length > 1 && html`<${FilterSelect} label="Category" value=${category} any="All" options=${present} onChange=${setCategory} />`}
      ${(map.rows.length > MAX_ROWS || find !== '') && html`<label>Find tasks <input type="search" value=${find} onInput=${(event) => setFind(event.currentTarget.value)} /></label>`}
      ${map.columns.length >= MIN_COLUMNS && html`<${ColorScale} low=${low} format=${format} />`}
    </div>
    ${order === 'stuck' && html`<p class="soft">Stuck: below 90%, and neither this mean nor the difficulty of the last third differs by 0.05 from that of the third before it.</p>`}
    ${order === 'movers' && html`<p class="soft">The numbers on the right are the change from the first third to the last.</p>`}
    ${
      map.rows.length > 0 && rows.length === 0
        ? html`<${EmptyState}>${order === 'stuck' ? 'No task is stuck.' : 'No task matches the filters.'}<//>`
        : rows.length > 0
          ? map.columns.length < MIN_COLUMNS
            ? html`<${TaskBars} rows=${labeled} what=${name} low=${low} format=${format} />`
            : html`<${HeatMap}
                rows=${labeled}
                columns=${map.columns}
                label=${`${name} by task`}
                low=${low}
                format=${format}
                linkOf=${({ task }, column) => buildCellAddress(path, task, map.raw[column])}
              />`
          : problem
            ? html`<${ErrorMessage} problem=${problem} absent="This server does not support metrics by task." />`
            : !value
              ? html`<${Loading} />`
              : html`<${EmptyState}>The server has not scored any group of this run yet.<//>`
    }
    ${
      count > MAX_ROWS &&
      html`<p class="more">
      <span class="soft">${all === 'all' ? `All ${count} tasks` : `${MAX_ROWS} of ${count} tasks`}</span>
      <button type="button" onClick=${() => setQuery({ rows: all === 'all' ? '' : 'all' })}>${all === 'all' ? `Show ${MAX_ROWS}` : `Show all ${count}`}</button>
    </p>`
    }
  <//>`
  // Preact leaves out what is the same object as before; the run changes every two seconds.
  return useMemo(draw, [path, value, problem, labeled, count, present, kind, order, category, find, all])
}

/** The last value of each task as a bar, for a run with too few columns. */
function TaskBars({ rows, what, low, format }) {
  const drawBar = ({ last }) => html`<${Bar} value=${((last ?? 0) - low) / (1 - low)} label=${format(last)} />`
  return html`<${DataTable} label=${`${what} by task`} rows=${rows} columns=${[
    ['task', ({ name, href }) => html`<a href=${href}>${name}</a>`],
    [what.toLowerCase(), drawBar, 'wide'],
    ['last', ({ last }) => format(last), 'num'],
  ]} />`
}

function ColorScale({ low, format }) {
  const canvas = useRef(null)
  const scheme = useColorScheme()
  useEffect(() => {
    const pen = canvas.current.getContext('2d')
    for (let k = 0; k < 96; k++) {
      pen.fillStyle = getCellColor(k / 95, isDarkColor())
      pen.fillRect(k, 0, 1, 10)
    }
  }, [scheme])
  return html`<span class="scale">${format(low)}<canvas ref=${canvas} width="96" height="10" aria-hidden="true"></canvas>${format(1)}</span>`
}

/** Fills a cell without a value with the previous value. */
function prepareMap(value) {
  const { columns = [], tasks = {} } = value ?? {}
  const rows = Object.entries(tasks).map(([task, cells]) => {
    let last = null
    return { task, cells: cells.map((cell) => (last = cell ?? last)) }
  })
  const low = Math.min(0, ...rows.flatMap(({ cells }) => cells.map((cell) => cell ?? 0)))
  return { raw: columns, columns: columns.map(nameColumn), rows, low }
}

function nameColumn({ step, first_step: first, time }) {
  if (step === undefined) return formatTime(time * 1000)
  return first === undefined || first === step ? `step ${step}` : `steps ${first} to ${step}`
}

function buildCellAddress(path, task, { step: last, first_step: first = last }) {
  const step = last === undefined || first === last ? last : `${first}-${last}`
  return `#/${path}/groups?${new URLSearchParams({ task, ...(step !== undefined && { step }) })}`
}
