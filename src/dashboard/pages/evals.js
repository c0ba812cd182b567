/** Evals: start one, see them all, a run's curve, pick two to compare. */
import { byName, fixed, percent, words } from '../format.js'
import { html, useMemo, useState } from '../html.js'
import { useLoad } from '../loading.js'
import { Chip, Empty, Head, Loading, Panel, Trouble, Unheard } from '../parts/bits.js'
import { Chart } from '../parts/chart.js'
import { EvalForm } from '../parts/eval-form.js'
import { Table } from '../parts/table.js'
import { Time } from '../parts/time.js'

export const STATUS_TONES = { done: 'good', running: 'accent', queued: '', failed: 'bad', cancelled: 'warn' }

export function EvalsPage() {
  const { value, problem, at } = useLoad('eval', { everyMs: 4000 })
  const evals = value?.evals ?? []
  const [run, setRun] = useState('')
  const [picked, setPicked] = useState([])
  const runs = [...new Set(evals.map((one) => one.run).filter(Boolean))].toSorted(byName)
  const shown = evals.filter((one) => run === '' || one.run === run)
  const pick = (id) =>
    setPicked((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(-2)))
  return html`
    <${Head} title="Evals" about="A model measured on a frozen list of items." />
    <${EvalForm} onStarted=${({ id }) => {
      location.hash = `#/evals/${id}`
    }} />
    ${problem && (value ? html`<${Unheard} at=${at} problem=${problem} />` : html`<${Panel}><${Trouble} problem=${problem} absent="This server runs no evals." /><//>`)}
    ${!value && !problem && html`<${Loading} />`}
    ${
      value &&
      html`
      <${Curve} evals=${shown.filter((one) => one.run !== null && one.step !== null)} />
      <${Panel} title="All evals">
        <div class="filters">
          ${
            runs.length > 0 &&
            html`<label>Run<select value=${run} onChange=${({ target }) => setRun(target.value)}>
            <option value="">all</option>${runs.map((name) => html`<option>${name}</option>`)}
          </select></label>`
          }
          ${
            picked.length === 2
              ? html`<a class="button" href=${`#/evals/compare?a=${picked[0]}&b=${picked[1]}`}>Compare the two</a>`
              : html`<span class="soft">Pick two to compare them.</span>`
          }
        </div>
        ${shown.length === 0 ? html`<${Empty}>No eval yet.<//>` : html`<${List} evals=${shown} picked=${picked} onPick=${pick} />`}
      <//>`
    }
  `
}

function List({ evals, picked, onPick }) {
  return html`<${Table} label="Evals">
      <thead>
        <tr><th class="pick"><span class="unseen">pick</span></th><th>eval</th><th>model</th><th>suite</th><th>run</th><th>status</th><th>created</th><th class="num">score</th><th class="num">95 %</th><th class="num">accuracy</th></tr>
      </thead>
      <tbody>
        ${evals.map(
          (one) => html`<tr>
            <td class="pick"><input type="checkbox" aria-label=${`Pick ${one.id}`} checked=${picked.includes(one.id)} onChange=${() => onPick(one.id)} /></td>
            <th scope="row"><a href=${`#/evals/${one.id}`}>${one.id}</a></th>
            <td class="name">${one.model?.name ?? 'brought'}</td>
            <td>${suiteName(one)}</td>
            <td class="name">${one.run ?? '–'}${one.step !== null && one.step !== undefined ? `, step ${one.step}` : ''}</td>
            <td><${Chip} tone=${STATUS_TONES[one.status]}>${words(one.status)}<//> ${one.status === 'running' ? percent(one.progress.done / Math.max(1, one.progress.total)) : ''}</td>
            <td><${Time} at=${one.created_at} /></td>
            <td class="num">${fixed(one.result?.mean_score ?? one.progress?.mean_score, 3)}</td>
            <td class="num">${intervalOf(one.result)}</td>
            <td class="num">${percent(one.result?.accuracy, 1)}</td>
          </tr>`,
        )}
      </tbody>
    <//>`
}

export function suiteName({ suite }) {
  return suite.name
}

export function intervalOf(result) {
  const bounds = result?.confidence_95
  return bounds ? `${fixed(bounds[0], 3)} to ${fixed(bounds[1], 3)}` : '–'
}

const LINES_MOST = 5

/** Mean score by step; a line for each run and suite, as many as have a colour. */
function Curve({ evals }) {
  const { x, series, lines } = useMemo(() => {
    const done = evals.filter((one) => one.result?.mean_score !== null && one.result?.mean_score !== undefined)
    const lines = Map.groupBy(done, (one) => `${one.run}, ${suiteName(one)}`)
    const shown = [...lines].slice(0, LINES_MOST)
    const steps = [...new Set(shown.flatMap(([, some]) => some.map(({ step }) => step)))].sort((a, b) => a - b)
    return {
      x: steps,
      lines: lines.size,
      series: shown.map(([name, some]) => ({
        name,
        values: steps.map((step) => some.find((one) => one.step === step)?.result.mean_score ?? null),
      })),
    }
  }, [evals])
  if (x.length < 2) return null
  return html`<${Panel}><${Chart} title="Mean score over training" x=${x} series=${series} height=${180} />
    ${lines > series.length && html`<p class="soft">The ${series.length} that were measured last, of ${lines}: choose a run to see its own.</p>`}
  <//>`
}
