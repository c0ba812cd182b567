/** Difficulty and accuracy of every task over training. */
import { fixed, percent, words } from '../format.js'
import { useScheme } from '../hooks.js'
import { html, useEffect, useMemo, useRef, useState } from '../html.js'
import { Choice, Empty, Loading, Panel, Trouble } from './bits.js'
import { HeatMap, isDark, lastOf, shade } from './heat-map.js'

const COLUMNS = 60

const KINDS = {
  difficulty: { name: 'Difficulty', format: fixed },
  accuracy: { name: 'Accuracy', format: (value) => percent(value) },
  reward: { name: 'Reward', format: fixed },
}

const NOTHING = []

/** `history` and `steps` are undefined until they are known. */
export function HeatPanel({ history = NOTHING, steps, problem, tasks }) {
  const available = history.length > 0 ? ['accuracy', 'difficulty', 'reward'] : ['reward']
  const [chosen, setChosen] = useState(undefined)
  const kind = available.includes(chosen) ? chosen : available[0]
  const map = useMemo(
    () => (kind === 'reward' ? ofSteps(steps ?? NOTHING) : ofHistory(history, kind)),
    [history, steps, kind],
  )
  const rows = useMemo(
    () => map.rows.map((row) => ({ ...row, name: words(row.task), href: `#/tasks/${row.task}` })),
    [map],
  )
  const low = Math.min(0, ...rows.flatMap(({ cells }) => cells.map((cell) => cell ?? 0)))
  return html`<${Panel} title="Tasks over training">
    <div class="filters">
      <${Choice} label="What the colours tell" value=${kind} options=${available.map((key) => [key, KINDS[key].name])} onChange=${setChosen} />
      <${Scale} low=${low} format=${KINDS[kind].format} />
    </div>
    ${
      rows.length > 0 && map.columns.length > 0
        ? html`<${HeatMap} rows=${rows} columns=${map.columns} label=${`${KINDS[kind].name} by task`} low=${low} format=${KINDS[kind].format} />`
        : problem
          ? html`<${Trouble} problem=${problem} />`
          : !steps
            ? html`<${Loading} />`
            : html`<${Empty}>${Object.keys(tasks).length > 0 ? 'Nothing has been trained on yet: the first batch brings the first column.' : 'No group has been scored yet.'}<//>`
    }
  <//>`
}

function Scale({ low, format }) {
  const canvas = useRef(null)
  const scheme = useScheme()
  useEffect(() => {
    const pen = canvas.current.getContext('2d')
    for (let k = 0; k < 96; k++) {
      pen.fillStyle = shade(k / 95, isDark())
      pen.fillRect(k, 0, 1, 10)
    }
  }, [scheme])
  return html`<span class="scale">${format(low)}<canvas ref=${canvas} width="96" height="10" aria-hidden="true"></canvas>${format(1)}</span>`
}

/** Every task's last value in each of at most sixty equal stretches of the history. */
function ofHistory(points, kind) {
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
  return { columns: names, rows: filled(byTask) }
}

/** The mean of each task's rewards in each of at most sixty equal stretches of steps. */
function ofSteps(steps) {
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
  return { columns: names, rows: filled(means) }
}

/** A task that is not met in a stretch stands as it stood; the best come first. */
function filled(byTask) {
  const rows = [...byTask].map(([task, cells]) => {
    let last = null
    return { task, cells: cells.map((cell) => (last = cell ?? last)) }
  })
  return rows.toSorted((a, b) => lastOf(b.cells) - lastOf(a.cells) || (a.task < b.task ? -1 : 1))
}
