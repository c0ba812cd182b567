/** Accuracy, difficulty and reward of every task over training. */
import { formatDecimal, formatPercent, humanize } from '../format.js'
import { useColorScheme } from '../hooks.js'
import { html, useEffect, useMemo, useRef, useState } from '../html.js'
import { EmptyState, ErrorMessage, Loading, Panel, SegmentedControl } from './common.js'
import { getCellColor, getLastValue, HeatMap, isDarkColor } from './heat-map.js'

const COLUMNS = 60

const METRICS = {
  difficulty: { name: 'Difficulty', format: formatDecimal },
  accuracy: { name: 'Accuracy', format: (value) => formatPercent(value) },
  reward: { name: 'Reward', format: formatDecimal },
}

const NO_POINTS = []

/** `history` and `steps` are undefined until they have loaded. */
export function HeatPanel({ history = NO_POINTS, steps, problem, tasks }) {
  const available = history.length > 0 ? ['accuracy', 'difficulty', 'reward'] : ['reward']
  const [chosen, setChosen] = useState(undefined)
  const kind = available.includes(chosen) ? chosen : available[0]
  const map = useMemo(
    () => (kind === 'reward' ? buildFromSteps(steps ?? NO_POINTS) : buildFromHistory(history, kind)),
    [history, steps, kind],
  )
  const rows = useMemo(
    () => map.rows.map((row) => ({ ...row, name: humanize(row.task), href: `#/tasks/${row.task}` })),
    [map],
  )
  const low = Math.min(0, ...rows.flatMap(({ cells }) => cells.map((cell) => cell ?? 0)))
  return html`<${Panel} title="Tasks over training">
    <div class="filters">
      <${SegmentedControl} label="Color metric" value=${kind} options=${available.map((key) => [key, METRICS[key].name])} onChange=${setChosen} />
      <${ColorScale} low=${low} format=${METRICS[kind].format} />
    </div>
    ${
      rows.length > 0 && map.columns.length > 0
        ? html`<${HeatMap} rows=${rows} columns=${map.columns} label=${`${METRICS[kind].name} by task`} low=${low} format=${METRICS[kind].format} />`
        : problem
          ? html`<${ErrorMessage} problem=${problem} />`
          : !steps
            ? html`<${Loading} />`
            : html`<${EmptyState}>${Object.keys(tasks).length > 0 ? 'There are no batches yet. The first batch adds the first column.' : 'The server has not scored any group of this run yet.'}<//>`
    }
  <//>`
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

/** The last value of every task in each of at most sixty equal parts of the history. */
function buildFromHistory(points, kind) {
  const columns = Math.min(COLUMNS, points.length)
  const stretch = points.length / columns
  const byTask = new Map()
  points.forEach((point, k) => {
    const cells = byTask.get(point.task) ?? Array(columns).fill(null)
    cells[Math.min(columns - 1, Math.floor(k / stretch))] = point[kind]
    byTask.set(point.task, cells)
  })
  const names = Array.from({ length: columns }, (_, k) => {
    const point = points[Math.min(points.length - 1, Math.floor((k + 1) * stretch) - 1)]
    return point.step === undefined ? new Date(point.time).toLocaleString('en-GB') : `step ${point.step}`
  })
  return { columns: names, rows: fillGaps(byTask) }
}

/** The mean reward of every task in each of at most sixty equal ranges of steps. */
function buildFromSteps(steps) {
  const columns = Math.min(COLUMNS, steps.length)
  const stretch = steps.length / columns
  const sums = new Map()
  steps.forEach((step, k) => {
    const column = Math.min(columns - 1, Math.floor(k / stretch))
    for (const [key, value] of Object.entries(step)) {
      const task = /^task\/(.+)\/reward$/.exec(key)?.[1]
      if (!task) continue
      const cells = sums.get(task) ?? Array.from({ length: columns }, () => ({ sum: 0, n: 0 }))
      cells[column].sum += value
      cells[column].n++
      sums.set(task, cells)
    }
  })
  const names = Array.from({ length: columns }, (_, k) => `step ${steps[Math.floor(k * stretch)].step ?? k}`)
  const means = new Map([...sums].map(([task, cells]) => [task, cells.map(({ sum, n }) => (n === 0 ? null : sum / n))]))
  return { columns: names, rows: fillGaps(means) }
}

/** Fills a part without a value with the previous value. Sorts rows by their last value, highest first. */
function fillGaps(byTask) {
  const rows = [...byTask].map(([task, cells]) => {
    let last = null
    return { task, cells: cells.map((cell) => (last = cell ?? last)) }
  })
  return rows.toSorted((a, b) => getLastValue(b.cells) - getLastValue(a.cells) || (a.task < b.task ? -1 : 1))
}
