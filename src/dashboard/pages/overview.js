/** The state of the server: health, rates, runs, processes and queues. */

import { useEventStream, useResource } from '../data-hooks.js'
import { formatBytes, formatCompact, formatCount, formatDuration, formatPercent } from '../format.js'
import { html, useMemo, useState } from '../html.js'
import { Chart } from '../parts/chart.js'
import {
  Chip,
  ConnectionLostBanner,
  EmptyState,
  ErrorMessage,
  LiveIndicator,
  Loading,
  PageHeader,
  Panel,
  StatTiles,
  StatusBanner,
} from '../parts/common.js'
import { RunsTable } from '../parts/runs-table.js'
import { Table } from '../parts/table.js'
import { appendPoint, computeRates, toPoint } from '../rates.js'

const RATES = [
  ['Items', 'items_handed_out'],
  ['Rollouts', 'rollouts'],
  ['Scores', 'verdicts'],
]
const MAX_RUNS = 12

export function OverviewPage() {
  const { value, problem, at } = useResource('overview')
  const runs = useResource('runs', { everyMs: 5000 })
  const [heard, setHeard] = useState({ last: undefined, points: [] })
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
  if (problem && !now) return html`<${PageHeader} title="Overview" /><${ErrorMessage} problem=${problem} />`
  if (!now) return html`<${PageHeader} title="Overview" /><${Loading} />`
  const rates = computeRates(
    points,
    RATES.map(([, key]) => key),
  )
  const latest = (name) => rates.values[name].at(-1)
  const waiting = now.queues.reduce((sum, { waiting, delayed }) => sum + waiting + delayed, 0)
  const active = now.queues.reduce((sum, queue) => sum + queue.active, 0)
  const oldest = Math.max(0, ...now.queues.map(({ oldest_s }) => oldest_s))
  const hosts = now.processes.reduce((sum, process) => sum + Object.values(process.hosts).reduce((a, b) => a + b, 0), 0)
  return html`
    <${PageHeader} title="Overview"><${LiveIndicator} live=${events.live} /><//>
    ${!events.live && (events.at || events.problem) ? html`<${ConnectionLostBanner} at=${events.at ?? at} problem=${events.problem} />` : html`<${Health} health=${now.health} />`}
    <${StatTiles}
      tiles=${[
        ...RATES.map(([name, key]) => [
          `${name} per minute`,
          formatCompact(latest(key)),
          `${formatCompact(now.totals[key])} in total`,
        ]),
        [
          'Unscored',
          formatPercent(now.totals.verdicts > 0 ? now.totals.unscored / now.totals.verdicts : 0, 2),
          formatCount(now.totals.unscored),
        ],
        [
          'Jobs waiting',
          formatCount(waiting),
          waiting + active === 0 ? 'no active jobs' : `${formatCount(active)} active, oldest ${formatDuration(oldest)}`,
        ],
        [
          'Python workers',
          formatCount(hosts),
          now.processes.length === 1 ? 'in one process' : `in ${now.processes.length} processes`,
        ],
      ]}
    />
    <div class="grid">
      <${Panel} width="w8">
        <${Chart}
          title="Per minute, last hour"
          time=${true}
          x=${rates.x}
          series=${RATES.map(([name, key]) => ({ name, values: rates.values[key] }))}
          format=${formatCompact}
          height=${210}
        />
      <//>
      <${Panel} width="w4">
        <${Chart} title="Unfinished jobs" time=${true} x=${points.map(({ t }) => t)} series=${[{ name: 'jobs', values: points.map(({ queued }) => queued) }]} format=${formatCompact} height=${210} />
      <//>
    </div>
    <div class="grid">
      <${Panel} title="Runs" width="w7">
        ${runs.problem && html`<${ErrorMessage} problem=${runs.problem} />`}
        ${!runs.value && !runs.problem && html`<${Loading} />`}
        ${runs.value && html`<${RecentRuns} runs=${runs.value.runs} />`}
      <//>
      <${Panel} title="Processes" width="w5">
        <${Table} label="Processes">
            <thead>
              <tr><th>process</th><th class="num">Python workers</th><th class="num">memory</th><th class="num" title="99th percentile of the event loop delay">event loop delay</th></tr>
            </thead>
            <tbody>
              ${now.processes.map(
                (process) => html`<tr>
                  <th scope="row"><${Chip} tone=${process.engine_up ? 'good' : 'bad'}>${process.role}<//> ${process.process}</th>
                  <td class="num">${formatCount(Object.values(process.hosts).reduce((a, b) => a + b, 0))}</td>
                  <td class="num">${formatBytes(process.resident_bytes)}</td>
                  <td class="num">${formatDuration(process.event_loop_p99_s)}</td>
                </tr>`,
              )}
            </tbody>
          <//>
      <//>
      <${Panel} title="Queues" width="w12">
        <${Table} label="Queues">
            <thead>
              <tr><th>queue</th><th class="num">waiting</th><th class="num">active</th><th class="num">waiting to retry</th><th class="num">failed</th><th class="num">oldest</th></tr>
            </thead>
            <tbody>
              ${now.queues.map(
                (queue) => html`<tr>
                  <th scope="row">${queue.queue}</th>
                  <td class="num">${formatCount(queue.waiting)}</td>
                  <td class="num">${formatCount(queue.active)}</td>
                  <td class="num">${formatCount(queue.delayed)}</td>
                  <td class="num">${queue.failed > 0 ? html`<${Chip} tone="bad">${formatCount(queue.failed)}<//>` : '0'}</td>
                  <td class="num">${queue.oldest_s > 0 ? formatDuration(queue.oldest_s) : '–'}</td>
                </tr>`,
              )}
            </tbody>
          <//>
      <//>
    </div>
  `
}

/** The most recently active runs, if there are too many for all. */
function RecentRuns({ runs }) {
  if (runs.length === 0)
    return html`<${EmptyState}>There are no runs yet. The first <code>POST /items</code> or <code>PUT /runs/NAME</code> with a new name creates one.<//>`
  const lastOf = ({ tasks, state }) =>
    Math.max(0, ...Object.values(tasks).map(({ last_at }) => Date.parse(last_at) || 0), Date.parse(state?.since) || 0)
  const last = runs.toSorted((a, b) => lastOf(b) - lastOf(a)).slice(0, MAX_RUNS)
  return html`
    <${RunsTable} runs=${runs.length > MAX_RUNS ? last : runs} />
    ${runs.length > MAX_RUNS && html`<p class="more"><a href="#/runs">All ${formatCount(runs.length)} runs</a></p>`}
  `
}

function Health({ health }) {
  const { redis, engine, workers } = health
  if (!redis.ok)
    return html`<${StatusBanner} tone="bad" is="not ready" why=${`Redis is not available: ${redis.detail}`} />`
  if (!engine.ok)
    return html`<${StatusBanner} tone="bad" is="not ready" why=${`The engine is down: ${engine.detail}`} />`
  if (!workers.ok)
    return html`<${StatusBanner} tone="warn" is="no worker" why="Groups are accepted but not scored. Start a worker" />`
  const crew = workers.count === 1 ? 'One worker is running' : `${workers.count} workers are running`
  return redis.detail
    ? html`<${StatusBanner} tone="warn" is="ready" why=${`${crew}. ${redis.detail}`} />`
    : html`<${StatusBanner} tone="good" is="ready" why=${`${crew}, the engine is up, and Redis persists every write`} />`
}
