/** The frontier of a task by group: the level that the run requests, the estimated place with its interval, and the guess floor. */
import { formatDecimal, humanize } from '../format.js'
import { html, useMemo, useState } from '../html.js'
import { Chart } from './chart.js'
import { Panel } from './common.js'

const NO_POINTS = []

/** Hidden if the run has no frontiers. `history` is undefined until it has loaded. */
export function FrontierPanel({ history = NO_POINTS }) {
  const byTask = useMemo(() => {
    return Map.groupBy(
      history.filter(({ place }) => place !== undefined),
      ({ task }) => task,
    )
  }, [history])
  const tasks = [...byTask.keys()].toSorted((a, b) => (a < b ? -1 : 1))
  const [chosen, setChosen] = useState(undefined)
  const task = byTask.has(chosen) ? chosen : tasks[0]
  if (task === undefined) return null
  return html`<${Panel} title="Frontier">
    <div class="filters">
      <label>Task
        <select value=${task} onChange=${(event) => setChosen(event.currentTarget.value)}>
          ${tasks.map((name) => html`<option value=${name} key=${name}>${humanize(name)}</option>`)}
        </select>
      </label>
    </div>
    <${FrontierChart} key=${task} task=${task} points=${byTask.get(task)} />
    <p class="soft">The place is the estimated difficulty at which the model solves half of the items beyond guessing. The band is its 90% interval. The level is the difficulty of the items that the run hands out.</p>
  <//>`
}

function FrontierChart({ task, points }) {
  const x = useMemo(() => points.map((_, k) => k + 1), [points])
  const series = useMemo(() => {
    return [
      ['level', 'difficulty'],
      ['place', 'place'],
      ['guess floor', 'floor'],
    ].map(([name, key]) => ({ name, values: points.map((point) => point[key]) }))
  }, [points])
  const band = useMemo(
    () => ({
      name: '90% interval',
      low: points.map(({ interval }) => interval[0]),
      high: points.map(({ interval }) => interval[1]),
    }),
    [points],
  )
  return html`<${Chart} title=${`Difficulty of ${humanize(task)}`} x=${x} series=${series} band=${band} range=${[0, 1]} format=${formatDecimal} height=${180} xName="group" />`
}
