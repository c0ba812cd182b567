/** The report of an eval: its figures, formatted for readers, as Markdown for a pull request, an issue or a model card. */
import { describeTwin, type Eval, type EvalStatistics, type FrontierResult } from '@reasoning-gym-server/contract/eval'
import { formatFailures } from '@reasoning-gym-server/contract/generation-job'

function formatPercent(value: number | null): string {
  return value === null ? '–' : `${(100 * value).toFixed(1)}%`
}

function formatMeanScore(value: number | null): string {
  return value === null ? '–' : value.toFixed(3)
}

function formatMeanWithInterval({ mean_score, confidence_95 }: EvalStatistics): string {
  return `${formatMeanScore(mean_score)}${confidence_95 === null ? '' : ` ${formatInterval(confidence_95)}`}`
}

function formatInterval(interval: number[] | null): string {
  return interval === null ? '–' : `[${interval.map((bound) => bound.toFixed(3)).join(', ')}]`
}

/** Formats the floor-corrected mean with its 95% interval. */
function formatLift({ lift, lift_confidence_95 }: EvalStatistics): string {
  return `${formatMeanScore(lift)}${lift_confidence_95 === null ? '' : ` ${formatInterval(lift_confidence_95)}`}`
}

/** Formats one entry for each k: `1: 40.0%, 4: 71.2%`. */
function formatRateByK(rates: Record<string, number>): string {
  return Object.entries(rates)
    .map(([k, rate]) => `${k}: ${formatPercent(rate)}`)
    .join(', ')
}

const REPORT_COLUMNS: [head: string, cell: (figures: EvalStatistics) => string][] = [
  ['mean score, 95%', formatMeanWithInterval],
  ['lift, 95%', formatLift],
  ['accuracy', ({ accuracy }) => formatPercent(accuracy)],
  ['format faults', ({ format_faults }) => formatPercent(format_faults)],
  ['truncated', ({ truncated }) => truncated.toString()],
  ['unscored', ({ unscored }) => unscored.toString()],
  ['missing', ({ missing }) => missing.toString()],
  ['tokens', ({ mean_tokens }) => (mean_tokens === null ? '–' : Math.round(mean_tokens).toString())],
  ['samples', ({ n }) => n.toString()],
]

const FRONTIER_HEADS = ['task', 'difficulty at half', '90%', 'slope', 'cap', 'items']

/** Builds the cells of the table of tasks, from the task with the farthest frontier to the one with the nearest. */
function listFrontierRows({ tasks }: FrontierResult): string[][] {
  return Object.entries(tasks)
    .toSorted(([a, x], [b, y]) => y.difficulty_at_half - x.difficulty_at_half || (a < b ? -1 : 1))
    .map(([task, { difficulty_at_half, interval_90, slope, cap, beyond, items }]) => [
      escapeMarkdown(task),
      `${formatMeanScore(difficulty_at_half)}${beyond === null ? '' : beyond === 'above_ladder' ? ' or harder' : ' or easier'}`,
      formatInterval(interval_90),
      slope.toFixed(1),
      formatPercent(cap),
      items.toString(),
    ])
}

function formatFrontierMean({ difficulty_at_half, interval_90, tasks }: FrontierResult): string {
  return `${formatMeanScore(difficulty_at_half)} ${formatInterval(interval_90)} over ${Object.keys(tasks).length} tasks`
}

/** Returns one sentence, or an empty string. */
function formatLeftOut({ left_out }: FrontierResult): string {
  const reasons = Object.entries(left_out).map(([task, reason]) => `${task} (${reason})`)
  return reasons.length === 0 ? '' : `Left out: ${reasons.join(', ')}.`
}

export function renderEvalReport({ model, suite, status, progress, detail, result, id }: Eval): string {
  const lines = [`# ${escapeMarkdown(model?.name ?? 'A model')} on ${escapeMarkdown(suite.name)}`, '']
  if (!result) {
    lines.push(
      `${status}: ${progress.done} of ${progress.total} samples, ${progress.failed} failed. ${escapeMarkdown(detail ?? '')}`,
    )
    return `${lines.join('\n').trimEnd()}\n`
  }
  if (detail) lines.push(`> ${escapeMarkdown(detail)}`, '')
  if (result.frontier) lines.push(...renderFrontier(result.frontier))
  lines.push(
    `**${formatMeanWithInterval(result)}** mean score with its 95% interval, accuracy ${formatPercent(result.accuracy)}, format faults ${formatPercent(result.format_faults)}; ` +
      `${formatMeanScore(result.mean_score_failures_wrong)} with unscored and missing samples as wrong.`,
    '',
    `Lift (0 is the guess floor, 1 is full marks): ${formatLift(result)}.`,
    '',
    ...(result.twin ? [describeTwin(result.twin), ''] : []),
    `${result.n} samples of ${result.items} items: ${result.unscored} unscored, ${result.missing} missing, ${result.truncated} truncated. ` +
      `pass@k: ${formatRateByK(result.pass_at)}; pass^k: ${formatRateByK(result.pass_all)}; maj@k: ${formatRateByK(result.majority_at)}.`,
    '',
    ...(result.recovery ? [describeRecovery(result.recovery), ''] : []),
    ...(result.other_tasks?.confidence_95
      ? [`95% interval for tasks of this kind: ${formatInterval(result.other_tasks.confidence_95)}.`, '']
      : []),
    ...result.warnings.flatMap((warning) => [`> ${escapeMarkdown(warning)}`, '']),
    ...formatFailures(result.failures).flatMap((failure) => [`- ${escapeMarkdown(failure)}`]),
    ...(result.failures.length > 0 ? [''] : []),
    ...renderStatistics('category', result.categories),
    ...renderStatistics('task', result.tasks),
    ...(Object.keys(result.difficulties).length > 1 ? renderStatistics('difficulty', result.difficulties) : []),
    `Eval \`${id}\` (${status}), suite sha256 \`${suite.sha256 ?? 'unknown'}\`.`,
  )
  return `${lines.join('\n')}\n`
}

function describeRecovery(recovery: NonNullable<EvalStatistics['recovery']>): string {
  const { first_try_accuracy, rate, wrong_at_first, confidence_95 } = recovery
  return `Accuracy of the first tries ${formatPercent(first_try_accuracy)}. Later tries got ${formatPercent(rate)} of ${wrong_at_first} wrong first tries right, 95% interval ${formatInterval(confidence_95)}.`
}

function renderFrontier(frontier: FrontierResult): string[] {
  return [
    `**${formatFrontierMean(frontier)}** is the difficulty at which the model solves half of the items beyond guessing, with its 90% interval.`,
    '',
    ...renderTable(FRONTIER_HEADS, listFrontierRows(frontier)),
    ...(formatLeftOut(frontier) === '' ? [] : [escapeMarkdown(formatLeftOut(frontier)), '']),
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

/**
 * Escapes Markdown and HTML, because names come from callers and messages from models' servers. An underscore within a word,
 * as in names of tasks, marks nothing.
 */
function escapeMarkdown(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, '\uFFFD')
    .replace(/[\\`*[\]<>|#&~]|(?<![\p{L}\d])_|_(?![\p{L}\d])/gu, (mark) => `\\${mark}`)
}
