/** Renders the report of an eval as one self-contained page. */
import type { EvalResult, EvalStatistics, EvalView, FrontierResult } from '@reasoning-gym-server/contract/eval'
import { type Bar, escapeHtml, renderBarChart } from './chart.ts'
import {
  formatFailures,
  formatInterval,
  formatLift,
  formatMeanScore,
  formatMeanWithInterval,
  formatPercent,
  formatRateByK,
  formatWholeNumber,
  REPORT_COLUMNS,
} from './format.ts'
import { FRONTIER_HEADS, formatFrontierMean, formatLeftOut, listFrontierRows } from './frontier-text.ts'
import { renderDefinitionList, renderPage, renderRows, renderWarning } from './page.ts'

export function renderHtmlReport(view: EvalView): string {
  const title = `${view.model?.name ?? 'A model'} on ${view.suite.name}`
  return renderPage(title, view.result ? renderResult(view, view.result) : renderProgress(view))
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
    result.frontier ? renderFrontier(result.frontier) : '',
    `<p><span class="big">${formatMeanScore(result.mean_score)}</span> mean score${
      result.confidence_95 === null ? '' : `, 95% interval ${formatInterval(result.confidence_95)}`
    }</p>`,
    ...(view.status === 'done'
      ? []
      : [renderWarning(`This eval was ${view.status}: ${view.detail ?? 'the figures are of what was there'}`)]),
    ...result.warnings.map(renderWarning),
    renderDefinitionList({
      status: view.status,
      lift: `${formatLift(result)}, where 0 is the guess floor (${formatMeanScore(result.guess_floor)}) and 1 is full marks${formatUnknownFloors(result)}`,
      accuracy: `${formatPercent(result.accuracy)} of the scored samples have a score of 0.99 or more`,
      'failures as wrong': `${formatMeanScore(result.mean_score_failures_wrong)} with unscored and missing samples counted as 0`,
      ...(result.other_tasks && {
        'for other tasks': `95% interval ${formatInterval(result.other_tasks.confidence_95)}`,
      }),
      'pass@k': formatRateByK(result.pass_at),
      'pass^k': formatRateByK(result.pass_all),
      'maj@k': formatRateByK(result.majority_at),
      'format faults': `${formatPercent(result.format_faults)} ${formatCounts(result.faults)}`,
      samples: `${result.n} of ${result.items} items; ${result.unscored} unscored, ${result.missing} missing, ${result.truncated} truncated`,
      ...(result.failures.length > 0 && { failures: formatFailures(result.failures).join('; ') }),
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

function renderFrontier(frontier: FrontierResult): string {
  const bars = Object.entries(frontier.tasks)
    .toSorted(([, x], [, y]) => y.difficulty_at_half - x.difficulty_at_half)
    .map(([label, { difficulty_at_half: mean, interval_90: interval }]): Bar => {
      return { label, mean, interval, note: `${formatMeanScore(mean)} ${formatInterval(interval)}` }
    })
  return [
    `<h2>Difficulty at half: ${escapeHtml(formatFrontierMean(frontier))}</h2>`,
    '<p>The difficulty, from 0 to 1, at which the model solves half of the items beyond guessing, with its 90% interval. The items were chosen to find it, so the scores below do not measure the model.</p>',
    renderBarChart('Difficulty at half', bars),
    renderRows(FRONTIER_HEADS, listFrontierRows(frontier)),
    `<p>${escapeHtml(formatLeftOut(frontier))}</p>`,
    '<h2>Scores</h2>',
  ].join('\n')
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
  return renderRows(
    [head, ...REPORT_COLUMNS.map(([name]) => name)],
    Object.entries(parts).map(([name, figures]) => [name, ...REPORT_COLUMNS.map(([, cell]) => cell(figures))]),
  )
}
