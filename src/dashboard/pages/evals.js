/** Evals: start one, see them all, a run's curve, pick two to compare. */
import { byName, fixed, percent, words } from '../format.js'
import { useEvery, useLoad } from '../hooks.js'
import { html, useMemo, useState } from '../html.js'
import { Chip, Empty, Head, Loading, Panel, Trouble } from '../parts/bits.js'
import { Chart } from '../parts/chart.js'
import { EvalForm } from '../parts/eval-form.js'
import { Table } from '../parts/table.js'

export const STATUS_TONES = { done: 'good', running: 'accent', queued: '', failed: 'bad', cancelled: 'warn' }

export function EvalsPage() {
  const { value, problem, reload } = useLoad('eval')
  const evals = value?.evals ?? []
  const [run, setRun] = useState('')
  const [picked, setPicked] = useState([])
  useEvery(4000, reload)
  const runs = [...new Set(evals.map((one) => one.run).filter(Boolean))].toSorted(byName)
  const shown = evals.filter((one) => run === '' || one.run === run)
  const pick = (id) =>
    setPicked((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(-2)))
  return html`
    <${Head} title="Evals" about="A model measured on a frozen list of items." />
    <${EvalForm} onStarted=${({ id }) => {
      location.hash = `#/evals/${id}`
    }} />
    ${problem && html`<${Panel}><${Trouble} problem=${problem} absent="This server runs no evals." /><//>`}
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
        <tr><th class="pick"><span class="unseen">pick</span></th><th>eval</th><th>model</th><th>suite</th><th>run</th><th>status</th><th class="num">score</th><th class="num">95 %</th><th class="num">accuracy</th></tr>
      </thead>
      <tbody>
        ${evals.map(
          (one) => html`<tr>
            <td class="pick"><input type="checkbox" aria-label=${`Pick ${one.id}`} checked=${picked.includes(one.id)} onChange=${() => onPick(one.id)} /></td>
            <th scope="row"><a href=${`#/evals/${one.id}`}>${one.id}</a></th>
            <td>${one.model?.name ?? 'brought'}</td>
            <td>${suiteName(one)}</td>
            <td>${one.run ?? '–'}${one.step !== null && one.step !== undefined ? `, step ${one.step}` : ''}</td>
            <td><${Chip} tone=${STATUS_TONES[one.status]}>${words(one.status)}<//> ${one.status === 'running' ? percent(one.progress.done / Math.max(1, one.progress.total)) : ''}</td>
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

/** Mean score by step; a line for each run and suite. */
function Curve({ evals }) {
  const { x, series } = useMemo(() => {
    const done = evals.filter((one) => one.result?.mean_score !== null && one.result?.mean_score !== undefined)
    const steps = [...new Set(done.map(({ step }) => step))].sort((a, b) => a - b)
    const lines = Map.groupBy(done, (one) => `${one.run}, ${suiteName(one)}`)
    return {
      x: steps,
      series: [...lines].slice(0, 5).map(([name, some]) => ({
        name,
        values: steps.map((step) => some.find((one) => one.step === step)?.result.mean_score ?? null),
      })),
    }
  }, [evals])
  if (x.length < 2) return null
  return html`<${Panel}><${Chart} title="Mean score over training" x=${x} series=${series} height=${180} /><//>`
}
