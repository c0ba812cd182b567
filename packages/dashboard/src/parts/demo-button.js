/** Starts a demo and opens the page of its run. */
import { fetchJson } from '../api.js'
import { NeedsRole, useCaller } from '../caller.js'
import { useAction } from '../data-hooks.js'
import { html } from '../html.js'
import { ErrorMessage } from './common.js'

/** The name of the run in the server's message that a demo is already running. */
const RUNNING_DEMO = /\(([^()\s]+)\)/

export function DemoButton() {
  const { runs } = useCaller()
  const { start, busy, value, problem } = useAction(async () => {
    const { run } = await fetchJson('demo', { method: 'POST', body: {} })
    location.hash = `#/runs/${encodeURIComponent(run)}`
    return run
  })
  if (runs)
    return html`<p class="soft denied">A demo trains a new run. Your key is bound to ${runs.join(', ')}, so it cannot start one here.</p>`
  const starting = busy || value !== undefined
  const running = problem?.code === 'too_many_active' ? RUNNING_DEMO.exec(problem.message)?.[1] : undefined
  return html`<${NeedsRole} role="trainer" to="run a demo"><div class="demo">
    <p>
      <button type="button" class="main" disabled=${starting} onClick=${start}>Run a demo</button>
      <span role="status">${
        starting
          ? 'Starting the demo. The page of its run opens in a moment.'
          : 'Trains a simulated model for 40 steps, in less than a minute, and shows what a training run looks like.'
      }</span>
    </p>
    ${running && html`<p role="status">A demo is already running: <a href=${`#/runs/${running}`}>${running}</a>.</p>`}
    ${problem && !running && html`<${ErrorMessage} problem=${problem} />`}
  </div><//>`
}
