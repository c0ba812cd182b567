/** The report of an eval: one page that needs nothing else, to read, keep or send on. */
import type { EvalResult, EvalStatistics, EvalView } from '../../../contract/eval.ts'
import { type Bar, escapeHtml, renderBarChart } from './chart.ts'
import {
  formatInterval,
  formatLift,
  formatMeanScore,
  formatMeanWithInterval,
  formatPercent,
  formatRateByK,
  formatWholeNumber,
  REPORT_COLUMNS,
} from './format.ts'

const STYLESHEET = `
:root{color-scheme:light dark;--ink:#1c2128;--soft:#57606a;--line:#d0d7de;--bar:#4c78a8;--error:#1c2128;--back:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--line:#3d444d;--bar:#5b8fc7;--error:#e6edf3;--back:#0d1117}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}table{border-collapse:collapse;width:100%;font-size:.88rem}
th,td{padding:.25rem .5rem;border-bottom:1px solid var(--line);text-align:right}th:first-child,td:first-child{text-align:left}
.wide{overflow-x:auto}svg{max-width:100%;height:auto;font:12px system-ui,sans-serif}svg text{fill:var(--ink)}
svg .tick,svg .note{fill:var(--soft)}.grid{stroke:var(--line)}.bar{fill:var(--bar)}.error{stroke:var(--error);stroke-width:1.4;fill:none}
.big{font-size:2.2rem;font-weight:600}.warning{border-left:4px solid #d29922;padding:.2rem .8rem;margin:.6rem 0}
pre{overflow-x:auto;font-size:.82rem;border:1px solid var(--line);padding:.8rem;border-radius:6px}`

export function renderHtmlReport(view: EvalView): string {
  const title = `${view.model?.name ?? 'A model'} on ${view.suite.name}`
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title><style>${STYLESHEET}</style></head><body>
<h1>${escapeHtml(title)}</h1>${view.result ? renderResult(view, view.result) : renderProgress(view)}</body></html>\n`
}

function renderProgress({ status, progress, detail }: EvalView): string {
  return renderDefinitionList({
    status,
    progress: `${progress.done} of ${progress.total}, ${progress.failed} failed`,
    'mean so far': formatMeanScore(progress.mean_score),
    ...(detail && { detail }),
  })
}

function renderResult(view: EvalView, result: EvalResult): string {
  return [
    `<p><span class="big">${formatMeanScore(result.mean_score)}</span> mean score${
      result.confidence_95 === null ? '' : `, 95 % interval ${formatInterval(result.confidence_95)}`
    }</p>`,
    ...(view.status === 'done'
      ? []
      : [renderWarning(`This eval was ${view.status}: ${view.detail ?? 'the figures are of what was there'}`)]),
    ...result.warnings.map(renderWarning),
    renderDefinitionList({
      status: view.status,
      'above guessing': `${formatLift(result)}, where 0 is the floor of ${formatMeanScore(result.guess_floor)} that guessing earns and 1 is full marks${formatUnknownFloors(result)}`,
      accuracy: `${formatPercent(result.accuracy)} of the scored samples have a score of 0.99 or more`,
      'failures as wrong': `${formatMeanScore(result.mean_score_failures_wrong)} with unscored and missing samples counted as 0`,
      ...(result.other_tasks && {
        'for other tasks': `95 % interval ${formatInterval(result.other_tasks.confidence_95)}`,
      }),
      'pass@k': formatRateByK(result.pass_at),
      'pass^k': formatRateByK(result.pass_all),
      'maj@k': formatRateByK(result.majority_at),
      'format faults': `${formatPercent(result.format_faults)} ${formatCounts(result.faults)}`,
      samples: `${result.n} of ${result.items} items; ${result.unscored} unscored ${formatCounts(result.failures)}, ${result.missing} missing, ${result.truncated} truncated`,
      'mean tokens': formatWholeNumber(result.mean_tokens),
      ended: view.ended_at ?? '–',
    }),
    renderChart('By category', result.categories),
    Object.keys(result.difficulties).length > 1 ? renderChart('By difficulty', result.difficulties) : '',
    renderChart('By task', result.tasks),
    '<h2>Figures</h2>',
    renderTable({ ...result.categories }, 'category'),
    renderTable({ ...result.tasks }, 'task'),
    '<h2>To do it again</h2>',
    `<pre>${escapeHtml(JSON.stringify(result.repeat, null, 2))}</pre>`,
    '<p>Errors are clustered by item and stratified by task (Miller, arXiv 2411.00640); intervals are Wilson’s.</p>',
  ].join('\n')
}

function renderDefinitionList(rows: Record<string, string>): string {
  const cells = Object.entries(rows).map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`)
  return `<dl>${cells.join('')}</dl>`
}

function renderWarning(text: string): string {
  return `<p class="warning">${escapeHtml(text)}</p>`
}

function formatUnknownFloors({ guess_floor_unknown, scored }: EvalStatistics): string {
  return guess_floor_unknown === 0
    ? ''
    : `; the floors of ${guess_floor_unknown} of ${scored} samples are unknown and count as 0`
}

function formatCounts(counts: Record<string, number>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  return parts.length === 0 ? '' : `(${parts.join(', ')})`
}

function renderChart(title: string, parts: Record<string, EvalStatistics>): string {
  const bars = Object.entries(parts).map(
    ([label, figures]): Bar => ({
      label,
      mean: figures.mean_score,
      interval: figures.confidence_95,
      note: formatMeanWithInterval(figures),
    }),
  )
  return `<h2>${escapeHtml(title)}</h2>${renderBarChart(title, bars)}`
}

function renderTable(parts: Record<string, EvalStatistics>, head: string): string {
  const heads = [head, ...REPORT_COLUMNS.map(([name]) => name)].map((name) => `<th>${escapeHtml(name)}</th>`)
  const rows = Object.entries(parts).map(
    ([name, figures]) =>
      `<tr><td>${escapeHtml(name)}</td>${REPORT_COLUMNS.map(([, cell]) => `<td>${escapeHtml(cell(figures))}</td>`).join('')}</tr>`,
  )
  return `<div class="wide"><table><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}
