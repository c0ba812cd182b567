/** The server at a glance: health, rates, queues, processes. */
import { bytes, count, percent, seconds, short } from '../format.js'
import { html, useMemo, useState } from '../html.js'
import { useEvents, useLoad } from '../loading.js'
import { Chip, Empty, Head, Live, Loading, Panel, State, Tiles, Trouble, Unheard } from '../parts/bits.js'
import { Chart } from '../parts/chart.js'
import { RunsTable } from '../parts/runs-table.js'
import { Table } from '../parts/table.js'
import { pointOf, ratesOf, withPoint } from '../rates.js'

const RATES = [
  ['Items', 'items_handed_out'],
  ['Rollouts', 'rollouts'],
  ['Scores', 'verdicts'],
]
const RUNS_MOST = 12

export function OverviewPage() {
  const { value, problem, at } = useLoad('overview')
  const runs = useLoad('runs', { everyMs: 5000 })
  const [heard, setHeard] = useState({ last: undefined, points: [] })
  const events = useEvents('events', (event, data) => {
    if (event === 'overview') setHeard(({ points }) => ({ last: data, points: withPoint(points, pointOf(data)) }))
  })
  const now = heard.last ?? value
  const points = useMemo(() => {
    const older = (value?.history ?? []).map((point) => ({
      t: Date.parse(point.at) / 1000,
      queued: point.queued,
      totals: point,
    }))
    return heard.points.filter(({ t }) => t > (older.at(-1)?.t ?? 0)).reduce(withPoint, older)
  }, [value, heard])
  if (problem && !now) return html`<${Head} title="Overview" /><${Trouble} problem=${problem} />`
  if (!now) return html`<${Head} title="Overview" /><${Loading} />`
  const rates = ratesOf(
    points,
    RATES.map(([, key]) => key),
  )
  const latest = (name) => rates.values[name].at(-1)
  const waiting = now.queues.reduce((sum, { waiting, delayed }) => sum + waiting + delayed, 0)
  const active = now.queues.reduce((sum, queue) => sum + queue.active, 0)
  const oldest = Math.max(0, ...now.queues.map(({ oldest_s }) => oldest_s))
  const hosts = now.processes.reduce((sum, process) => sum + Object.values(process.hosts).reduce((a, b) => a + b, 0), 0)
  return html`
    <${Head} title="Overview"><${Live} live=${events.live} /><//>
    ${!events.live && (events.at || events.problem) ? html`<${Unheard} at=${events.at ?? at} problem=${events.problem} />` : html`<${Health} health=${now.health} />`}
    <${Tiles}
      tiles=${[
        ...RATES.map(([name, key]) => [`${name} a minute`, short(latest(key)), `${short(now.totals[key])} in all`]),
        [
          'Unscored',
          percent(now.totals.verdicts > 0 ? now.totals.unscored / now.totals.verdicts : 0, 2),
          count(now.totals.unscored),
        ],
        [
          'Jobs waiting',
          count(waiting),
          waiting + active === 0 ? 'nothing is to be done' : `${count(active)} at work, oldest ${seconds(oldest)}`,
        ],
        [
          'Engine hosts',
          count(hosts),
          now.processes.length === 1 ? 'in one process' : `in ${now.processes.length} processes`,
        ],
      ]}
    />
    <div class="grid">
      <${Panel} width="w8">
        <${Chart}
          title="A minute, over the last hour"
          time=${true}
          x=${rates.x}
          series=${RATES.map(([name, key]) => ({ name, values: rates.values[key] }))}
          format=${short}
          height=${210}
        />
      <//>
      <${Panel} width="w4">
        <${Chart} title="Jobs to be done" time=${true} x=${points.map(({ t }) => t)} series=${[{ name: 'jobs', values: points.map(({ queued }) => queued) }]} format=${short} height=${210} />
      <//>
    </div>
    <div class="grid">
      <${Panel} title="Runs" width="w7">
        ${runs.problem && html`<${Trouble} problem=${runs.problem} />`}
        ${!runs.value && !runs.problem && html`<${Loading} />`}
        ${runs.value && html`<${LastRuns} runs=${runs.value.runs} />`}
      <//>
      <${Panel} title="Processes" width="w5">
        <${Table} label="Figures">
            <thead>
              <tr><th>process</th><th class="num">hosts</th><th class="num">memory</th><th class="num" title="99th percentile of the event loop’s delay">delay</th></tr>
            </thead>
            <tbody>
              ${now.processes.map(
                (process) => html`<tr>
                  <th scope="row"><${Chip} tone=${process.engine_up ? 'good' : 'bad'}>${process.role}<//> ${process.process}</th>
                  <td class="num">${count(Object.values(process.hosts).reduce((a, b) => a + b, 0))}</td>
                  <td class="num">${bytes(process.resident_bytes)}</td>
                  <td class="num">${seconds(process.event_loop_p99_s)}</td>
                </tr>`,
              )}
            </tbody>
          <//>
      <//>
      <${Panel} title="Queues" width="w12">
        <${Table} label="Figures">
            <thead>
              <tr><th>queue</th><th class="num">waiting</th><th class="num">active</th><th class="num">to try again</th><th class="num">failed</th><th class="num">oldest</th></tr>
            </thead>
            <tbody>
              ${now.queues.map(
                (queue) => html`<tr>
                  <th scope="row">${queue.queue}</th>
                  <td class="num">${count(queue.waiting)}</td>
                  <td class="num">${count(queue.active)}</td>
                  <td class="num">${count(queue.delayed)}</td>
                  <td class="num">${queue.failed > 0 ? html`<${Chip} tone="bad">${count(queue.failed)}<//>` : '0'}</td>
                  <td class="num">${queue.oldest_s > 0 ? seconds(queue.oldest_s) : '–'}</td>
                </tr>`,
              )}
            </tbody>
          <//>
      <//>
    </div>
  `
}

/** Those that were at work last come first. */
function LastRuns({ runs }) {
  if (runs.length === 0)
    return html`<${Empty}>No run yet: the first <code>POST /items</code> or <code>PUT /runs/NAME</code> makes one.<//>`
  const lastOf = ({ tasks, state }) =>
    Math.max(0, ...Object.values(tasks).map(({ last_at }) => Date.parse(last_at) || 0), Date.parse(state?.since) || 0)
  const last = runs.toSorted((a, b) => lastOf(b) - lastOf(a)).slice(0, RUNS_MOST)
  return html`
    <${RunsTable} runs=${runs.length > RUNS_MOST ? last : runs} />
    ${runs.length > RUNS_MOST && html`<p class="more"><a href="#/runs">All ${count(runs.length)} runs</a></p>`}
  `
}

function Health({ health }) {
  const { redis, engine, workers } = health
  if (!redis.ok) return html`<${State} tone="bad" is="not ready" why=${`Redis cannot be reached: ${redis.detail}`} />`
  if (!engine.ok) return html`<${State} tone="bad" is="not ready" why=${`The engine is down: ${engine.detail}`} />`
  if (!workers.ok)
    return html`<${State} tone="warn" is="no worker" why="Groups are accepted and wait; start a worker to have them scored" />`
  const crew = workers.count === 1 ? 'One worker is at work' : `${workers.count} workers are at work`
  return redis.detail
    ? html`<${State} tone="warn" is="ready" why=${`${crew}. ${redis.detail}`} />`
    : html`<${State} tone="good" is="ready" why=${`${crew}, the engine is up, and Redis keeps every write`} />`
}
