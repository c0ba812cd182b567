/** The server at a glance: health, rates, queues, processes. */
import { bytes, clock, count, percent, seconds, short } from '../format.js'
import { useEvents, useLoad } from '../hooks.js'
import { html, useMemo, useState } from '../html.js'
import { Chip, Empty, Head, Loading, Panel, State, Tiles, Trouble } from '../parts/bits.js'
import { Chart } from '../parts/chart.js'
import { RunsTable } from '../parts/runs-table.js'
import { Table } from '../parts/table.js'

const RATES = [
  ['Items', 'items_handed_out'],
  ['Rollouts', 'rollouts'],
  ['Scores', 'verdicts'],
]
/** Points of the last hour that are shown: older ones come from the server, newer ones are heard. */
const POINTS_MOST = 720
const RATE_OVER_S = 10

export function OverviewPage() {
  const { value, problem } = useLoad('overview')
  const { value: runs } = useLoad('runs')
  const [heard, setHeard] = useState([])
  const live = useEvents('events', (event, data) => {
    if (event === 'overview') setHeard((before) => [...before, data].slice(-POINTS_MOST))
  })
  const now = heard.at(-1) ?? value
  const points = useMemo(() => pointsOf(value?.history ?? [], heard), [value, heard])
  if (problem && !now) return html`<${Head} title="Overview" /><${Trouble} problem=${problem} />`
  if (!now) return html`<${Head} title="Overview" /><${Loading} />`
  const rates = ratesOf(points)
  const latest = (name) => rates.values[name].at(-1)
  const waiting = now.queues.reduce((sum, { waiting, delayed }) => sum + waiting + delayed, 0)
  const oldest = Math.max(0, ...now.queues.map(({ oldest_s }) => oldest_s))
  const hosts = now.processes.reduce((sum, process) => sum + Object.values(process.hosts).reduce((a, b) => a + b, 0), 0)
  return html`
    <${Head} title="Overview"><span class="end"><${Chip} tone=${live ? 'good' : ''}>${live ? 'live' : 'not live'}<//></span><//>
    ${heard.length > 0 && !live ? html`<${Unheard} at=${now.at} />` : html`<${Health} health=${now.health} />`}
    <${Tiles}
      tiles=${[
        ...RATES.map(([name, key]) => [`${name} a minute`, short(latest(key)), `${short(now.totals[key])} in all`]),
        [
          'Unscored',
          percent(now.totals.verdicts > 0 ? now.totals.unscored / now.totals.verdicts : 0, 2),
          count(now.totals.unscored),
        ],
        ['Jobs waiting', count(waiting), oldest > 0 ? `oldest ${seconds(oldest)}` : 'nothing is to be done'],
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
        ${
          runs?.runs.length > 0
            ? html`<${RunsTable} runs=${runs.runs.slice(0, 12)} />`
            : html`<${Empty}>No run yet: the first <code>POST /items</code> or <code>PUT /runs/NAME</code> makes one.<//>`
        }
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

/** What was heard last says nothing of now: whoever looks for health must not read that all is well. */
function Unheard({ at }) {
  return html`<${State} tone="warn" is="no answer" why=${`The server was last heard at ${clock(at)}; what follows is from then`} />`
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

function pointsOf(history, heard) {
  const older = history.map((point) => ({ t: Date.parse(point.at) / 1000, queued: point.queued, totals: point }))
  const since = older.at(-1)?.t ?? 0
  const newer = heard.map((seen) => ({
    t: Date.parse(seen.at) / 1000,
    queued: seen.queues.reduce((sum, { waiting, active, delayed }) => sum + waiting + active + delayed, 0),
    totals: seen.totals,
  }))
  return [...older, ...newer.filter(({ t }) => t > since)]
}

/** Per minute, each over the last ten seconds or what there is. */
function ratesOf(points) {
  const x = []
  const values = Object.fromEntries(RATES.map(([, key]) => [key, []]))
  let from = 0
  for (let k = 1; k < points.length; k++) {
    while (from < k - 1 && points[k].t - points[from + 1].t >= RATE_OVER_S) from++
    const s = points[k].t - points[from].t
    if (s <= 0) continue
    x.push(points[k].t)
    for (const [, key] of RATES)
      values[key].push((60 * Math.max(0, points[k].totals[key] - points[from].totals[key])) / s)
  }
  return { x, values }
}
