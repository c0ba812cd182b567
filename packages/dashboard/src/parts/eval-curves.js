/** The evals of runs over their training steps: the mean score with its 95% interval, a line for each model and suite. */
import { useResource } from '../data-hooks.js'
import { buildEvalCurves } from '../eval-facts.js'
import { formatCount } from '../format.js'
import { html, useMemo } from '../html.js'
import { Chart } from './chart.js'
import { Panel } from './common.js'

const MAX_EVALS = 1000
const RELOAD_MS = 15_000
/** Each line has a color of its own. */
const MAX_LINES = 5

/** `run`: the run whose evals are loaded. `evals`: evals to draw instead. Draws nothing without evals that carry a step. */
export function EvalCurves({ run, evals }) {
  const path = evals ? null : `eval?run=${encodeURIComponent(run.run)}&limit=${MAX_EVALS}`
  const { value } = useResource(path, { everyMs: RELOAD_MS })
  const all = evals ?? value?.evals
  const { x, lines } = useMemo(() => buildEvalCurves(all ?? [], { namesRun: run === undefined }), [all])
  if (x.length === 0 || (evals && x.length < 2)) return null
  const shown = lines.slice(0, MAX_LINES)
  const [line] = shown
  const band = shown.length === 1 ? { name: '95% interval', low: line.low, high: line.high } : undefined
  return html`<${Panel} title="Evals over training" about="Mean score of the evals that carry a step of the run.">
    <${Chart} title="Mean score over training" x=${x} series=${shown} band=${band} range=${[0, 1]} height=${180} />
    ${lines.length > shown.length && html`<p class="soft">The chart shows ${formatCount(shown.length)} of ${formatCount(lines.length)} curves.</p>`}
  <//>`
}
