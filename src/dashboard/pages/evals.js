/** All evals: start one, list them, plot a run's learning curve, and select two to compare. */

import { useResource } from '../data-hooks.js'
import { describeStatus } from '../eval-facts.js'
import { compareByName, formatCount, formatDecimal, formatPercent, formatSigned, humanize } from '../format.js'
import { html, useMemo, useState } from '../html.js'
import { Chart } from '../parts/chart.js'
import { Chip, ConnectionLostBanner, EmptyState, ErrorMessage, Loading, PageHeader, Panel } from '../parts/common.js'
import { EvalForm } from '../parts/eval-form.js'
import { RelativeTime } from '../parts/relative-time.js'
import { Table } from '../parts/table.js'

export function EvalsPage() {
  const { value, problem, at } = useResource('eval', { everyMs: 4000 })
  const evals = value?.evals ?? []
  const [run, setRun] = useState('')
  const [picked, setPicked] = useState([])
  const runs = [...new Set(evals.map((one) => one.run).filter(Boolean))].toSorted(compareByName)
  const shown = evals.filter((one) => run === '' || one.run === run)
  const pick = (id) =>
    setPicked((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(-2)))
  return html`
    <${PageHeader} title="Evals" about="An eval measures one model on a suite, a frozen list of items." />
    <${EvalForm} onStarted=${({ id }) => {
      location.hash = `#/evals/${id}`
    }} />
    ${problem && (value ? html`<${ConnectionLostBanner} at=${at} problem=${problem} />` : html`<${Panel}><${ErrorMessage} problem=${problem} absent="This server does not support evals." /><//>`)}
    ${!value && !problem && html`<${Loading} />`}
    ${
      value &&
      html`
      <${EvalCurve} evals=${shown.filter((one) => one.run !== null && one.step !== null)} />
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
              ? html`<a class="button" href=${`#/evals/compare?a=${picked[0]}&b=${picked[1]}`}>Compare the selected evals</a>`
              : html`<span class="soft">Select two evals to compare them.</span>`
          }
        </div>
        ${shown.length === 0 ? html`<${EmptyState}>There are no evals yet. Start one with the form above.<//>` : html`<${EvalList} evals=${shown} picked=${picked} onPick=${pick} />`}
      <//>`
    }
    <${DuelsPanel} />
  `
}

/** The list of duels, hidden if there are none. Duels are started through the API or the command line. */
function DuelsPanel() {
  const { value } = useResource('duels', { everyMs: 4000 })
  if (!value?.duels?.length) return null
  return html`<${Panel} title="Duels" about="A duel compares two models on the same items until one is shown to be better.">
    <${Table} label="Duels">
      <thead>
        <tr><th>duel</th><th>a</th><th>b</th><th>status</th><th>created</th><th>verdict</th><th class="num">difference</th><th class="num">items</th></tr>
      </thead>
      <tbody>
        ${value.duels.map(
          (one) => html`<tr>
            <th scope="row"><a href=${`#/evals/${one.id}`}>${one.id}</a></th>
            <td class="name">${one.a.name}</td>
            <td class="name">${one.b.name}</td>
            <td><${StatusChip} value=${one} /></td>
            <td><${RelativeTime} at=${one.created_at} /></td>
            <td>${one.result ? humanize(one.result.verdict) : '–'}</td>
            <td class="num">${formatSigned(one.result?.difference)}</td>
            <td class="num">${formatCount(one.result?.items)}</td>
          </tr>`,
        )}
      </tbody>
    <//>
  <//>`
}

function EvalList({ evals, picked, onPick }) {
  return html`<${Table} label="Evals">
      <thead>
        <tr><th class="pick"><span class="unseen">select</span></th><th>eval</th><th>model</th><th>suite</th><th>run</th><th>status</th><th>created</th><th class="num">score</th><th class="num">95% interval</th><th class="num">accuracy</th></tr>
      </thead>
      <tbody>
        ${evals.map(
          (one) => html`<tr>
            <td class="pick"><input type="checkbox" aria-label=${`Select ${one.id}`} checked=${picked.includes(one.id)} onChange=${() => onPick(one.id)} /></td>
            <th scope="row"><a href=${`#/evals/${one.id}`}>${one.id}</a></th>
            <td class="name">${one.model?.name ?? 'your own completions'}</td>
            <td>${suiteName(one)}</td>
            <td class="name">${one.run ?? '–'}${one.step !== null && one.step !== undefined ? `, step ${one.step}` : ''}</td>
            <td><${StatusChip} value=${one} /></td>
            <td><${RelativeTime} at=${one.created_at} /></td>
            <td class="num">${formatHeadline(one)}</td>
            <td class="num">${one.difficulty_at_half === null ? formatInterval(one.result) : '–'}</td>
            <td class="num">${formatPercent(one.result?.accuracy, 1)}</td>
          </tr>`,
        )}
      </tbody>
    <//>`
}

function StatusChip({ value }) {
  const { tone, text } = describeStatus(value, { share: true })
  return html`<${Chip} tone=${tone}>${text}<//>`
}

/** The mean score; for a frontier eval the difficulty, because the model solves half of its items by design. */
function formatHeadline({ difficulty_at_half, result, progress }) {
  if (difficulty_at_half !== null) return `50% at ${formatDecimal(difficulty_at_half, 2)}`
  return formatDecimal(result?.mean_score ?? progress?.mean_score, 3)
}

export function suiteName({ suite }) {
  return suite.name
}

export function formatInterval(result) {
  const bounds = result?.confidence_95
  return bounds ? `${formatDecimal(bounds[0], 3)} to ${formatDecimal(bounds[1], 3)}` : '–'
}

const MAX_LINES = 5

/** Mean score by step, with one line per run and suite, up to the number of colors. */
function EvalCurve({ evals }) {
  const { x, series, lines } = useMemo(() => {
    const done = evals.filter((one) => one.result?.mean_score !== null && one.result?.mean_score !== undefined)
    const lines = Map.groupBy(done, (one) => `${one.run}, ${suiteName(one)}`)
    const shown = [...lines].slice(0, MAX_LINES)
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
    ${lines > series.length && html`<p class="soft">The chart shows the ${series.length} most recent of ${lines} curves. Select a run to see its curves.</p>`}
  <//>`
}
