/** Prints the results of evals and comparisons as tables, and what usually comes next. */

import {
  describeTwin,
  type Eval,
  type EvalComparison,
  type EvalStatistics,
  EvalSummary,
  type FrontierResult,
} from '@reasoning-gym-server/contract/eval'
import { formatFailures } from '@reasoning-gym-server/contract/generation-job'
import { z } from 'zod'
import type { ApiClient } from './api-client.ts'
import { heading, muted, paint, printLine, printNext } from './output.ts'
import { dropEmptyColumns, formatFacts, formatTable, type TableCell, type TonedCell } from './table.ts'

const STATISTICS_HEAD = [
  'samples',
  'mean score',
  'std. error',
  'lift',
  'accuracy',
  'faults',
  'cut',
  'unscored',
  'tokens',
]

/** `done`, in the color of its meaning: amber if samples failed, red if the eval ended without a result. */
export function formatStatus({ status, result }: Pick<Eval, 'status' | 'result'>): TonedCell {
  if (status === 'queued' || status === 'running') return { text: status, tone: undefined }
  if (status === 'cancelled') return { text: status, tone: 'warn' }
  if (status !== 'done') return { text: status, tone: 'bad' }
  const failed = result?.failures.reduce((sum, { count }) => sum + count, 0) ?? 0
  return failed === 0 ? { text: status, tone: 'good' } : { text: `done, ${failed} failed`, tone: 'warn' }
}

export async function printEval(answer: Eval): Promise<void> {
  const { id, model, suite, result, detail } = answer
  const { text, tone } = formatStatus(answer)
  await printLine(
    `${heading(`${model?.name ?? 'your own completions'} on ${suite.name}`)}  ${paint(text, tone)}  ${muted(id)}`,
  )
  if (detail) await printLine(paint(detail, tone))
  if (!result) return
  if (result.frontier) return printFrontier(result.frontier, result.warnings)
  await printLine(`\n${formatFacts(listScores(result))}\n`)
  const rows = Object.entries(result.tasks).map(([name, figures]) => formatStatisticsRow(name, figures))
  rows.push(formatStatisticsRow('all', result))
  await printLine(formatTable(...dropEmptyColumns(['task', ...STATISTICS_HEAD], rows)))
  const categories = Object.entries(result.categories)
  if (categories.length > 1 && categories.length < Object.keys(result.tasks).length) {
    const summaries = categories.map(([name, figures]) => formatStatisticsRow(name, figures))
    await printLine(`\n${formatTable(...dropEmptyColumns(['category', ...STATISTICS_HEAD], summaries))}`)
  }
  await printRates('pass@', result.pass_at)
  await printRates('pass^', result.pass_all)
  await printRates('maj@', result.majority_at)
  if (result.failures.length > 0) {
    await printLine(`\n${heading('Unscored samples')}`)
    for (const failure of formatFailures(result.failures)) await printLine(`  ${paint(failure, 'bad')}`)
    await printLine(`Mean score if these count as wrong: ${result.mean_score_failures_wrong?.toFixed(3) ?? '–'}`)
  }
  if (result.twin)
    await printLine(paint(describeTwin(result.twin), result.twin.verdict === 'memory_shown' ? 'warn' : undefined))
  for (const warning of result.warnings) await printLine(paint(`Note: ${warning}`, 'warn'))
}

function listScores(result: NonNullable<Eval['result']>): [string, TableCell][] {
  const { mean_score, confidence_95, lift, lift_confidence_95, accuracy, other_tasks, recovery, stderr } = result
  const within = (interval: readonly number[] | null) =>
    interval ? `, 95% confidence interval ${formatInterval(interval)}` : ''
  const error = stderr == null ? '' : `, standard error ${stderr.toFixed(3)}`
  const facts: [string, TableCell][] = [
    ['mean score', `${formatDecimals(mean_score) ?? '–'}${within(confidence_95)}${error}`],
    ['lift', `${formatDecimals(lift) ?? '–'}${within(lift_confidence_95)} (0: guessing, 1: full marks)`],
    ['accuracy', formatDecimals(accuracy) ?? '–'],
  ]
  if (recovery) {
    const { first_try_accuracy, rate, wrong_at_first } = recovery
    facts.push(
      ['first try', `accuracy ${formatDecimals(first_try_accuracy) ?? '–'}`],
      [
        'recovered',
        `${formatDecimals(rate) ?? '–'} of ${wrong_at_first} wrong first tries${within(recovery.confidence_95)}`,
      ],
    )
  }
  const others = other_tasks?.confidence_95
  return others
    ? [...facts, ['other tasks', `95% confidence interval ${formatInterval(others)} for tasks of this kind`]]
    : facts
}

/** Omits the scores, because the eval chose the items so that the model solves half of them. */
async function printFrontier(frontier: FrontierResult, warnings: string[]): Promise<void> {
  const rows = Object.entries(frontier.tasks).map(([task, place]) => [
    task,
    formatDecimals(place.difficulty_at_half),
    formatInterval(place.interval_90),
    place.slope.toFixed(1),
    formatDecimals(place.cap),
    place.items,
    place.beyond === 'above_ladder'
      ? 'harder than the ladder'
      : place.beyond === 'below_ladder'
        ? 'easier than the ladder'
        : '',
  ])
  await printLine(
    `\n${formatTable(['task', 'difficulty at 50%', '90% interval', 'slope', 'cap', 'items', 'note'], rows)}\n`,
  )
  const interval = frontier.interval_90 ? formatInterval(frontier.interval_90) : ''
  await printLine(
    `Difficulty at which half of the items are solved, mean of the tasks: ${formatDecimals(frontier.difficulty_at_half) ?? '–'} ${interval}`,
  )
  for (const [task, why] of Object.entries(frontier.left_out)) await printLine(`Excluded: ${task}. ${why}`)
  for (const warning of warnings) await printLine(paint(`Note: ${warning}`, 'warn'))
}

/** Prints nothing if each item has one sample. */
async function printRates(name: string, rates: Record<string, number>): Promise<void> {
  const entries = Object.entries(rates)
  if (entries.length > 1) await printLine(entries.map(([k, rate]) => `${name}${k} ${rate.toFixed(3)}`).join(', '))
}

function formatStatisticsRow(name: string, figures: EvalStatistics): TableCell[] {
  const { n, mean_score, stderr, lift, accuracy, format_faults, truncated, unscored, missing, mean_tokens } = figures
  const tokens = mean_tokens == null ? null : Math.round(mean_tokens)
  const without = (unscored ?? 0) + (missing ?? 0)
  return [
    name,
    n,
    formatDecimals(mean_score),
    formatDecimals(stderr),
    formatDecimals(lift),
    formatDecimals(accuracy),
    formatDecimals(format_faults),
    truncated,
    without,
    tokens,
  ]
}

/** Three decimals, including for whole numbers. */
function formatDecimals(value: number | null | undefined): string | null {
  return value?.toFixed(3) ?? null
}

/** `url`: of the server, whose dashboard lists the items that flipped. */
export async function printComparison(comparison: EvalComparison, url: string): Promise<void> {
  const { a, b, n, difference, confidence_95, p, smallest_detectable, tasks } = comparison
  await printLine(`a ${describeComparedEval(a)}\nb ${describeComparedEval(b)}\n`)
  const rows = Object.entries(tasks).map(([name, task]) => [
    name,
    task.n,
    formatDecimals(task.difference),
    task.confidence_95 ? formatInterval(task.confidence_95) : null,
    formatP(task.p_corrected),
    formatDecimals(task.lift_difference),
    task.verdict === 'too_few_items' ? 'too few items' : task.significant ? 'yes' : '',
  ])
  rows.push([
    'all',
    n,
    formatDecimals(difference),
    confidence_95 ? formatInterval(confidence_95) : null,
    formatP(p),
    formatDecimals(comparison.lift_difference),
    p == null ? 'too few items' : p < 0.05 ? 'yes' : '',
  ])
  await printLine(
    formatTable(['task', 'items', 'a − b', '95% interval', 'p (corrected)', 'lift, a − b', 'significant'], rows),
  )
  await printLine(
    `\nItems that only one of them has right: ${comparison.only_a_right} a, ${comparison.only_b_right} b. Read them: ${url}/#/evals/compare?a=${a.id}&b=${b.id}`,
  )
  if (smallest_detectable != null)
    await printLine(`Smallest difference that these items can detect (80% power): ${smallest_detectable.toFixed(3)}`)
}

function formatInterval(bounds: readonly number[]): string {
  return `[${bounds.map((bound) => bound.toFixed(3)).join(', ')}]`
}

/** p-values near 0 and 1 look like errors if they are rounded to 0.000 and 1.000. */
function formatP(p: number | null | undefined): string | null {
  if (p == null) return null
  if (p < 0.001) return '<0.001'
  return p > 0.999 ? '1' : p.toFixed(3)
}

function describeComparedEval({ id, model, run, step, mean_score }: EvalComparison['a']): string {
  const origin = run == null ? '' : `, run ${run}${step == null ? '' : ` at step ${step}`}`
  return `${id}: ${formatDecimals(mean_score) ?? '–'} (${model?.name ?? 'your own completions'}${origin})`
}

export const EvalList = z.object({ evals: z.array(EvalSummary) })

/** What usually comes after an eval: a look at its page, and the comparison with the one before. */
export async function printNextOfEval(server: ApiClient, { id, status, suite }: Eval): Promise<void> {
  printNext(server, { page: `/evals/${id}`, next: await suggestCommand(server, { id, status, suite: suite.name }) })
}

async function suggestCommand(
  server: ApiClient,
  { id, status, suite }: { id: string; status: string; suite: string },
): Promise<string> {
  if (status === 'cancelled' || status === 'failed') return `reasoning-gym-server eval --resume ${id}`
  const query = new URLSearchParams({ suite }).toString()
  const { evals } = await server.call(EvalList, 'GET', `/eval?${query}`).catch(() => ({ evals: [] }))
  const other = evals.find((candidate) => candidate.id !== id && candidate.status === 'done')
  return other && status === 'done'
    ? `reasoning-gym-server eval compare ${id} ${other.id}`
    : `reasoning-gym-server eval report ${id} > report.md`
}
