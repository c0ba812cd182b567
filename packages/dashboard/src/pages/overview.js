/** What happens on the server: its health, its latest runs and evals, rates and, folded, processes and queues. */

import { appendPoint, computeRates, toPoint } from '../chart-data.js'
import { useEventStream, useResource } from '../data-hooks.js'
import {
  formatBytes,
  formatCompact,
  formatCount,
  formatDuration,
  formatPercent,
  formatTime,
  pluralize,
  toSentence,
} from '../format.js'
import { html, useMemo, useState } from '../html.js'
import { RunningEvalsPanel, RunsPanel } from '../parts/activity-panels.js'
import { Chart } from '../parts/chart.js'
import {
  Chip,
  ConnectionLostBanner,
  ErrorMessage,
  LiveIndicator,
  Loading,
  PageHeader,
  Panel,
  StatTiles,
  StatusBanner,
  Tile,
} from '../parts/common.js'
import { DataTable } from '../parts/table.js'

const RATES = [
  ['Items', 'items_handed_out'],
  ['Rollouts', 'rollouts'],
  ['Scores', 'verdicts'],
]

/** More than the panel shows, which puts runs at rest last. */
const LATEST_RUNS = 20

export function OverviewPage() {
  const { value, problem, at } = useResource('overview')
  const runs = useResource(`runs?sort=activity&limit=${LATEST_RUNS}`, { everyMs: 5000 })
  const evals = useResource('eval', { everyMs: 5000 })
  const [heard, setHeard] = useState(/** @type {{ last?: any, points: any[] }} */ ({ points: [] }))
  const events = useEventStream('events', (event, data) => {
    if (event === 'overview') setHeard(({ points }) => ({ last: data, points: appendPoint(points, toPoint(data)) }))
  })
  const now = heard.last ?? value
  const points = useMemo(() => {
    const older = (value?.history ?? []).map((point) => ({
      t: Date.parse(point.at) / 1000,
      queued: point.queued,
      totals: point,
    }))
    return heard.points.filter(({ t }) => t > (older.at(-1)?.t ?? 0)).reduce(appendPoint, older)
  }, [value, heard])
  const isLost = !events.live && (events.at || events.problem)
  const failure = (isLost && events.problem) || (!now && problem)
  if (!now && !failure) return html`<${PageHeader} title="Overview" /><${Loading} />`
  return html`
    <${PageHeader} title="Overview"><${LiveIndicator} live=${events.live} /><//>
    ${
      failure && failure.status !== 0
        ? html`<${Failure} problem=${failure} at=${now ? (events.at ?? at) : undefined} />`
        : isLost && now
          ? html`<${ConnectionLostBanner} at=${events.at ?? at} problem=${events.problem} />`
          : now
            ? html`<${Health} health=${now.health} />`
            : html`<${ErrorMessage} problem=${failure} />`
    }
    <${RunsPanel} runs=${runs.value?.runs} problem=${runs.problem} isAway=${Boolean(failure) || now?.health.redis.ok === false} />
    <${RunningEvalsPanel} evals=${evals.value?.evals} />
    ${now && html`<${Activity} now=${now} points=${points} /><${Machines} now=${now} />`}
  `
}

/** What the server says that it lacks, and how old the rest of the page is. */
function Failure({ problem, at }) {
  const old = at ? ` The data below is from ${formatTime(at)}, the time of the last response` : ''
  return html`<${StatusBanner} tone="bad" is="not ready" why=${`${toSentence(problem.message)}${old}`} />`
}

function Activity({ now, points }) {
  const rates = computeRates(
    points,
    RATES.map(([, key]) => key),
  )
  const { totals } = now
  const span = rates.seconds >= 60 ? 'last minute' : `last ${Math.max(1, Math.round(rates.seconds))} s`
  const latest = (key) => rates.values[key].map(Math.round).at(-1)
  return html`
    <${StatTiles}>
      ${RATES.map(([name, key]) => html`<${Tile} name=${`${name}, ${span}`} value=${formatCompact(latest(key))} note=${totals[key] > 0 ? `${formatCompact(totals[key])} in total` : 'none yet'} />`)}
      ${
        totals.verdicts > 0
          ? html`<${Tile} name="Unscored" value=${formatPercent(totals.unscored / totals.verdicts, 2)} note=${`${formatCount(totals.unscored)} of ${formatCompact(totals.verdicts)} verdicts`} />`
          : html`<${Tile} name="Unscored" value="–" note="nothing scored yet" />`
      }
    <//>
    <div class="grid">
      <${Panel} width="8">
        <${Chart}
          title="Per minute, last hour"
          time=${true}
          x=${rates.x}
          series=${RATES.map(([name, key]) => ({ name, values: rates.values[key] }))}
          format=${formatCompact}
          height=${180}
        />
      <//>
      <${Panel} width="4">
        <${Chart} title="Unfinished jobs" time=${true} x=${points.map(({ t }) => t)} series=${[{ name: 'jobs', values: points.map(({ queued }) => queued) }]} range=${[0, 4]} format=${formatCompact} height=${180} />
      <//>
    </div>
  `
}

const workersOf = ({ workers }) => Object.values(workers).reduce((a, b) => a + b, 0)

const PROCESS_COLUMNS = [
  ['process', drawProcess],
  ['Python workers', (process) => formatCount(workersOf(process)), 'num'],
  ['memory', ({ resident_bytes }) => formatBytes(resident_bytes), 'num'],
  ['event loop delay', drawDelay, 'num'],
]

const QUEUE_COLUMNS = [
  ['queue', ({ queue }) => queue],
  ['waiting', ({ waiting }) => formatCount(waiting), 'num'],
  ['active', ({ active }) => formatCount(active), 'num'],
  ['waiting to retry', ({ delayed }) => formatCount(delayed), 'num'],
  ['failed', ({ failed }) => (failed > 0 ? html`<${Chip} tone="bad">${formatCount(failed)}<//>` : '0'), 'num'],
  ['oldest', ({ oldest_s }) => (oldest_s > 0 ? formatDuration(oldest_s) : '–'), 'num'],
]

function drawProcess({ process, role, engine_up }) {
  return html`<${Chip} tone=${engine_up ? 'good' : 'bad'}>${role}<//> ${process}`
}

function drawDelay({ event_loop_p99_s }) {
  return html`<span title="99th percentile of the event loop delay">${formatDuration(event_loop_p99_s)}</span>`
}

/** Processes and queues, for the operator: folded, with what matters in their titles. */
function Machines({ now: { processes, queues } }) {
  const sum = (key) => queues.reduce((total, queue) => total + queue[key], 0)
  const [waiting, active, failed] = [sum('waiting') + sum('delayed'), sum('active'), sum('failed')]
  const oldest = Math.max(0, ...queues.map(({ oldest_s }) => oldest_s))
  const workers = processes.reduce((total, process) => total + workersOf(process), 0)
  return html`
    <details class="panel fold">
      <summary>
        <h2>Processes</h2>
        <span class="soft">${formatCount(processes.length)} ${processes.length === 1 ? 'process' : 'processes'}, ${pluralize(workers, 'Python worker')}</span>
      </summary>
      <${DataTable} label="Processes" rows=${processes} columns=${PROCESS_COLUMNS} />
    </details>
    <details class="panel fold">
      <summary>
        <h2>Queues</h2>
        <span class="soft">${waiting + active === 0 ? 'no unfinished jobs' : `${formatCount(waiting)} waiting, ${formatCount(active)} active, oldest ${formatDuration(oldest)}`}</span>
        ${failed > 0 && html`<${Chip} tone="bad">${formatCount(failed)} failed<//>`}
      </summary>
      <${DataTable} label="Queues" rows=${queues} columns=${QUEUE_COLUMNS} />
    </details>
  `
}

/** Says on every other page what the server lacks. Their own requests may fail only after a while, and do not say all of it. */
export function HealthBanner() {
  const load = async (path, options) => (await fetch(path, options)).json() // a 503 says what is not ready, too
  const { value: health } = useResource('readyz', { load, everyMs: 5000 })
  return health?.redis && !(health.redis.ok && health.engine.ok) && html`<${Health} health=${health} />`
}

function Health({ health }) {
  const { redis, engine, workers } = health
  if (!redis.ok) return html`<${StatusBanner} tone="bad" is="not ready" why=${redis.detail} />`
  if (!engine.ok)
    return html`<${StatusBanner} tone="bad" is="not ready" why=${`The engine is down: ${engine.detail}`} />`
  if (!workers.ok)
    return html`<${StatusBanner} tone="warn" is="no worker" why="Groups are accepted but not scored. Start a worker" />`
  const crew = workers.count === 1 ? 'One worker is running' : `${workers.count} workers are running`
  return redis.detail
    ? html`<${StatusBanner} tone="warn" is="ready" why=${`${crew}. ${redis.detail}`} />`
    : html`<${StatusBanner} tone="good" is="ready" why=${`${crew}, the engine is up, and Redis persists every write`} />`
}
