/** Renders the report of an eval as Markdown for a pull request, an issue or a model card. */
import type { EvalStatistics, EvalView, FrontierResult } from '@reasoning-gym-server/contract/eval'
import {
  formatFailures,
  formatLift,
  formatMeanScore,
  formatMeanWithInterval,
  formatPercent,
  formatRateByK,
  REPORT_COLUMNS,
} from './format.ts'
import { FRONTIER_HEADS, formatFrontierMean, formatLeftOut, listFrontierRows } from './frontier-text.ts'

export function renderMarkdownReport({ model, suite, status, progress, detail, result, id }: EvalView): string {
  const lines = [`# ${escapeMarkdown(model?.name ?? 'A model')} on ${escapeMarkdown(suite.name)}`, '']
  if (!result) {
    lines.push(`${status}: ${progress.done} of ${progress.total} samples, ${progress.failed} failed. ${detail ?? ''}`)
    return `${lines.join('\n').trimEnd()}\n`
  }
  if (result.frontier) lines.push(...renderFrontier(result.frontier))
  lines.push(
    `**${formatMeanWithInterval(result)}** mean score with its 95% interval, accuracy ${formatPercent(result.accuracy)}, format faults ${formatPercent(result.format_faults)}; ` +
      `${formatMeanScore(result.mean_score_failures_wrong)} with unscored and missing samples as wrong.`,
    '',
    `Lift (0 is the guess floor, 1 is full marks): ${formatLift(result)}.`,
    '',
    `${result.n} samples of ${result.items} items: ${result.unscored} unscored, ${result.missing} missing, ${result.truncated} truncated. ` +
      `pass@k: ${formatRateByK(result.pass_at)}.`,
    '',
    ...result.warnings.flatMap((warning) => [`> ${warning}`, '']),
    ...formatFailures(result.failures).flatMap((failure) => [`- ${escapeMarkdown(failure)}`]),
    ...(result.failures.length > 0 ? [''] : []),
    ...renderTable('category', result.categories),
    ...renderTable('task', result.tasks),
    ...(Object.keys(result.difficulties).length > 1 ? renderTable('difficulty', result.difficulties) : []),
    `Eval \`${id}\` (${status}), suite sha256 \`${suite.sha256 ?? 'unknown'}\`.`,
  )
  return `${lines.join('\n')}\n`
}

function renderFrontier(frontier: FrontierResult): string[] {
  return [
    `**${formatFrontierMean(frontier)}** is the difficulty at which the model solves half of the items beyond guessing, with its 90% interval.`,
    '',
    `| ${FRONTIER_HEADS.join(' | ')} |`,
    `|---|${'---:|'.repeat(FRONTIER_HEADS.length - 1)}`,
    ...listFrontierRows(frontier).map((cells) => `| ${cells.map(escapeMarkdown).join(' | ')} |`),
    '',
    ...(formatLeftOut(frontier) === '' ? [] : [formatLeftOut(frontier), '']),
    'The items were chosen to find it, so the scores below do not measure the model.',
    '',
  ]
}

function renderTable(head: string, parts: Record<string, EvalStatistics>): string[] {
  return [
    `| ${[head, ...REPORT_COLUMNS.map(([name]) => name)].join(' | ')} |`,
    `|---|${REPORT_COLUMNS.map(() => '---:|').join('')}`,
    ...Object.entries(parts).map(
      ([name, figures]) =>
        `| ${[escapeMarkdown(name), ...REPORT_COLUMNS.map(([, cell]) => cell(figures))].join(' | ')} |`,
    ),
    '',
  ]
}

/** Escapes tables, links and tags, because names come from callers. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').replace(/[\\`*[\]<>|#]/g, (mark) => `\\${mark}`)
}
