/** Renders the report of an eval or a duel as Markdown for a pull request, an issue or a model card. */
import type { DuelView } from '@reasoning-gym-server/contract/duel'
import type { Eval, EvalStatistics, FrontierResult } from '@reasoning-gym-server/contract/eval'
import { formatFailures } from '@reasoning-gym-server/contract/generation-job'
import {
  DUEL_TASK_HEADS,
  FRONTIER_HEADS,
  formatDuelVerdict,
  formatFrontierMean,
  formatLeftOut,
  formatLift,
  formatMeanScore,
  formatMeanWithInterval,
  formatPercent,
  formatRateByK,
  listDuelFigures,
  listDuelTaskRows,
  listFrontierRows,
  REPORT_COLUMNS,
} from './report.ts'

export function renderEvalReport({ model, suite, status, progress, detail, result, id }: Eval): string {
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
    ...renderStatistics('category', result.categories),
    ...renderStatistics('task', result.tasks),
    ...(Object.keys(result.difficulties).length > 1 ? renderStatistics('difficulty', result.difficulties) : []),
    `Eval \`${id}\` (${status}), suite sha256 \`${suite.sha256 ?? 'unknown'}\`.`,
  )
  return `${lines.join('\n')}\n`
}

export function renderDuelReport(view: DuelView): string {
  const { a, b, result, status, progress, detail, id } = view
  const title = `# ${escapeMarkdown(a.name)} against ${escapeMarkdown(b.name)}`
  if (!result) return `${title}\n\n${status}: ${progress.done} samples. ${detail ?? ''}`.trimEnd().concat('\n')
  const lines = [
    title,
    '',
    `**${escapeMarkdown(formatDuelVerdict(view, result))}**`,
    '',
    ...listDuelFigures(result).map(([name, value]) => `- ${name}: ${value}`),
    '',
    ...result.warnings.flatMap((warning) => [`> ${warning}`, '']),
    ...renderTable(DUEL_TASK_HEADS, listDuelTaskRows(result).map(escapeCells)),
    `Duel \`${id}\` (${status}). The test is over all tasks together; figures of single tasks are no verdicts.`,
  ]
  return `${lines.join('\n')}\n`
}

function renderFrontier(frontier: FrontierResult): string[] {
  return [
    `**${formatFrontierMean(frontier)}** is the difficulty at which the model solves half of the items beyond guessing, with its 90% interval.`,
    '',
    ...renderTable(FRONTIER_HEADS, listFrontierRows(frontier).map(escapeCells)),
    ...(formatLeftOut(frontier) === '' ? [] : [formatLeftOut(frontier), '']),
    'The items were chosen to find it, so the scores below do not measure the model.',
    '',
  ]
}

function renderStatistics(head: string, parts: Record<string, EvalStatistics>): string[] {
  const rows = Object.entries(parts).map(([name, figures]) => [
    escapeMarkdown(name),
    ...REPORT_COLUMNS.map(([, cell]) => cell(figures)),
  ])
  return renderTable([head, ...REPORT_COLUMNS.map(([name]) => name)], rows)
}

function renderTable(heads: readonly string[], rows: readonly string[][]): string[] {
  return [
    `| ${heads.join(' | ')} |`,
    `|---|${'---:|'.repeat(heads.length - 1)}`,
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
    '',
  ]
}

function escapeCells(cells: string[]): string[] {
  return cells.map(escapeMarkdown)
}

/** Escapes tables, links and tags, because names come from callers. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').replace(/[\\`*[\]<>|#]/g, (mark) => `\\${mark}`)
}
