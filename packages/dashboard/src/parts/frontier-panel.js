/** The difficulty of a task over its groups, and how accurate the model is at each difficulty. */

import { bucketByDifficulty } from '../chart-data.js'
import { useResource, useThrottled } from '../data-hooks.js'
import { compareByName, formatCount, formatDecimal, formatPercent } from '../format.js'
import { useQueryField } from '../hooks.js'
import { html, useMemo } from '../html.js'
import { Chart } from './chart.js'
import { EmptyState, Help, Panel } from './common.js'
import { FilterSelect } from './list-tools.js'

const ADAPTIVE_MODES = ['curriculum', 'frontier']
const REFRESH_INTERVAL_MS = 3000

/** Hidden if the run does not adapt the difficulty. */
export function FrontierPanel({ run, path }) {
  const { complexity_mode: mode } = run.settings
  const tasks = Object.keys(run.tasks)
    .filter((task) => run.tasks[task].groups > 0 || run.tasks[task].difficulty !== null)
    .toSorted((a, b) => run.tasks[b].groups - run.tasks[a].groups || compareByName(a, b))
  const [chosen, setChosen] = useQueryField('task')
  const task = tasks.includes(chosen) ? chosen : tasks[0]
  const version = useThrottled(run.tasks[task]?.groups ?? 0, REFRESH_INTERVAL_MS)
  const isShown = ADAPTIVE_MODES.includes(mode) && task !== undefined
  const { value } = useResource(isShown ? `${path}/history?task=${task}` : null, { version })
  if (!isShown) return null
  const points = value?.points ?? []
  return html`<${Panel} title=${mode === 'frontier' ? 'Frontier' : 'Curriculum'}>
    <div class="filters">
      <${FilterSelect} label="Task" value=${task} options=${tasks} onChange=${setChosen} />
    </div>
    ${
      points.length === 0
        ? value && html`<${EmptyState}>No group has moved the difficulty of this task yet.<//>`
        : html`<div class="charts">
          <${FrontierChart} key=${`chart ${task}`} task=${task} points=${points} />
          <${AccuracyByDifficulty} task=${task} points=${points} level=${points.at(-1).difficulty} />
        </div>`
    }
    ${mode === 'frontier' && html`<p class="soft">The difficulty at 50% is an estimate of where the model solves half of the items without guessing, and the band is its 90% interval. Both end where the rungs of the task end. The difficulty itself is that of the items that the run hands out.</p>`}
  <//>`
}

const SIZE = { width: 420, height: 210, left: 40, right: 12, top: 8, bottom: 34 }

/** Mean score of the groups at each difficulty: hollow for the first half of the groups, filled for the second. */
function AccuracyByDifficulty({ task, points, level }) {
  const [early, late] = useMemo(() => bucketByDifficulty(points), [points])
  const { width, height, left, right, top, bottom } = SIZE
  const toX = (difficulty) => left + difficulty * (width - left - right)
  const toY = (score) => height - bottom - score * (height - top - bottom)
  const dots = (buckets, kind) => html`
    <path class=${kind} d=${buckets.map(({ difficulty, score }, k) => `${k ? 'L' : 'M'}${toX(difficulty)} ${toY(score)}`).join('')} />
    ${buckets.map(({ difficulty, score, groups }) => html`<circle class=${kind} cx=${toX(difficulty)} cy=${toY(score)} r=${2.5 + Math.min(4, Math.sqrt(groups) / 2)}><title>${`difficulty ${formatDecimal(difficulty)}: ${formatPercent(score)} in ${formatCount(groups)} groups`}</title></circle>`)}
  `
  const said = late.map(({ difficulty, score }) => `${formatPercent(score)} at ${formatDecimal(difficulty)}`).join(', ')
  return html`<figure class="chart">
    <figcaption>
      <h3><span>Accuracy against difficulty</span><${Help} about="Accuracy against difficulty">Mean score of the task’s groups at each difficulty, larger dots for more groups. If the later line lies above the earlier one, the model has improved at the same difficulty. The vertical line is the current difficulty.<//></h3>
      <span class="key"><i class="early"></i>first half</span>
      <span class="key"><i class="late"></i>second half</span>
      <span class="key"><i class="level"></i>difficulty <b>${formatDecimal(level)}</b></span>
    </figcaption>
    <svg class="difficulty" viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${`Accuracy of ${task} by difficulty: ${said}`}>
      ${[0, 0.5, 1].map(
        (tick) => html`
          <path class="grid-line" d=${`M${left} ${toY(tick)}H${width - right}`} />
          <text x=${left - 6} y=${toY(tick) + 4} text-anchor="end">${formatPercent(tick)}</text>
          <text x=${toX(tick)} y=${height - 18} text-anchor="middle">${tick}</text>
        `,
      )}
      <text x=${(left + width - right) / 2} y=${height - 3} text-anchor="middle">difficulty</text>
      <path class="level" d=${`M${toX(level)} ${top}V${height - bottom}`} />
      ${dots(early, 'early')} ${dots(late, 'late')}
    </svg>
  </figure>`
}

function FrontierChart({ task, points: all }) {
  const { points, x, xName } = useMemo(() => placePoints(all), [all])
  const series = useMemo(() => {
    return [
      ['difficulty', 'difficulty'],
      ['difficulty at 50%', 'place'],
      ['guess floor', 'floor'],
    ]
      .filter(([, key]) => points.some((point) => point[key] !== undefined))
      .map(([name, key]) => ({ name, values: points.map((point) => clipToLadder(point[key])) }))
  }, [points])
  const band = useMemo(
    () =>
      points.every(({ interval }) => interval) && {
        name: '90% interval',
        low: points.map(({ interval }) => clipToLadder(interval[0])),
        high: points.map(({ interval }) => clipToLadder(interval[1])),
      },
    [points],
  )
  return html`<${Chart} title=${`Difficulty of ${task}`} x=${x} series=${series} band=${band || undefined} range=${[0, 1]} format=${formatDecimal} height=${180} xName=${xName} />`
}

/** A model may be better or worse than all rungs can show. */
function clipToLadder(difficulty) {
  return typeof difficulty === 'number' ? Math.min(1, Math.max(0, difficulty)) : difficulty
}

/** The last point of each step, as in the charts beside it; of a run without steps, each group. */
function placePoints(points) {
  const last = [...new Map(points.map((point) => [point.step, point])).values()].toSorted((a, b) => a.step - b.step)
  if (last.length < 2) return { points, x: points.map((_, k) => k + 1), xName: 'group' }
  return { points: last, x: last.map(({ step }) => step), xName: 'step' }
}
