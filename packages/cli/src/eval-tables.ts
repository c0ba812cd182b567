/** Prints the reports of evals, comparisons as tables, and what usually comes next. */

import { type Eval, type EvalComparison, EvalSummary } from '@reasoning-gym-server/contract/eval'
import { z } from 'zod'
import type { ApiClient } from './api-client.ts'
import { print, printLine, printNext } from './output.ts'
import { formatTable, type TonedCell } from './table.ts'

/** `done`, in the color of its meaning: amber if the eval was cancelled, red if it ended without a result. */
export function formatStatus(status: Eval['status']): TonedCell {
  if (status === 'queued' || status === 'running') return { text: status, tone: undefined }
  return { text: status, tone: status === 'done' ? 'good' : status === 'cancelled' ? 'warn' : 'bad' }
}

/** Prints the report of the server, and what usually comes after an eval: a look at its page, and the comparison with the one before. */
export async function printReport(server: ApiClient, { id, status, suite }: Eval): Promise<void> {
  await print(await (await server.request('GET', `/eval/${id}/report`)).text())
  printNext(server, { page: `/evals/${id}`, next: await suggestCommand(server, { id, status, suite: suite.name }) })
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
    `\nItems that only one of them answers correctly: ${comparison.only_a_right} a, ${comparison.only_b_right} b. Read them: ${url}/#/evals/compare?a=${a.id}&b=${b.id}`,
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
