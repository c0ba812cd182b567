/** The result of an eval, and of a comparison, as tables. */
import { z } from 'zod'
import { printLine } from './output.ts'
import { type Cell, tableOf } from './table.ts'

const rate = z.number().nullish()

const Figures = z.looseObject({
  mean_score: rate,
  stderr: rate,
  confidence_95: z.tuple([z.number(), z.number()]).nullish(),
  accuracy: rate,
  pass_at: z.record(z.string(), z.number()).default({}),
  format_faults: rate,
  n: z.number().nullish(),
  unscored: z.number().nullish(),
  missing: z.number().nullish(),
  truncated: z.number().nullish(),
  mean_tokens: rate,
})
type Figures = z.infer<typeof Figures>

export const EvalAnswer = z.looseObject({
  id: z.string(),
  status: z.string(),
  detail: z.string().nullish(),
  model: z.looseObject({ name: z.string() }).nullish(),
  suite: z.looseObject({ name: z.string() }),
  result: z
    .looseObject({
      ...Figures.shape,
      mean_score_failures_wrong: rate,
      warnings: z.array(z.string()).default([]),
      failures: z.record(z.string(), z.number()).default({}),
      categories: z.record(z.string(), Figures),
      tasks: z.record(z.string(), Figures),
    })
    .nullish(),
})
export type EvalAnswer = z.infer<typeof EvalAnswer>

const HEAD = ['', 'samples', 'mean score', '± stderr', 'accuracy', 'format faults', 'truncated', 'unscored', 'tokens']

export async function printEval({ id, status, model, suite, result }: EvalAnswer): Promise<void> {
  await printLine(`${model?.name ?? 'completions that were brought'} on ${suite.name}: ${status} (${id})`)
  if (!result) return
  const rows = [
    ...Object.entries(result.tasks).map(([name, figures]) => rowOf(name, figures)),
    ...Object.entries(result.categories).map(([name, figures]) => rowOf(`category ${name}`, figures)),
    rowOf('all', result),
  ]
  await printLine(`\n${tableOf(HEAD, rows)}\n`)
  if (result.confidence_95) await printLine(`95 % interval of the mean score: ${interval(result.confidence_95)}`)
  const passes = Object.entries(result.pass_at).map(([k, value]) => `pass@${k} ${value.toFixed(3)}`)
  if (passes.length > 1) await printLine(passes.join(', '))
  const failures = Object.entries(result.failures).map(([reason, count]) => `${count} × ${reason}`)
  if (failures.length > 0) {
    await printLine(`Without a score: ${failures.join('; ')}`)
    await printLine(`Mean score with these counted as wrong: ${result.mean_score_failures_wrong?.toFixed(3) ?? '–'}`)
  }
  for (const warning of result.warnings) await printLine(`Note: ${warning}`)
}

function rowOf(name: string, figures: Figures): Cell[] {
  const { n, mean_score, stderr, accuracy, format_faults, truncated, unscored, missing, mean_tokens } = figures
  const tokens = mean_tokens == null ? null : Math.round(mean_tokens)
  const without = (unscored ?? 0) + (missing ?? 0)
  return [name, n, fixed(mean_score), fixed(stderr), fixed(accuracy), fixed(format_faults), truncated, without, tokens]
}

/** Three digits, also of whole numbers. */
function fixed(value: number | null | undefined): string | null {
  return value?.toFixed(3) ?? null
}

const Difference = z.looseObject({
  n: z.number(),
  difference: rate,
  stderr: rate,
  confidence_95: z.tuple([z.number(), z.number()]).nullish(),
  p: rate,
  smallest_detectable: rate,
})
const End = z.looseObject({ id: z.string(), mean_score: rate })
export const Comparison = z.looseObject({
  ...Difference.shape,
  a: End,
  b: End,
  tasks: z.record(
    z.string(),
    z.looseObject({ ...Difference.shape, p_corrected: rate, significant: z.boolean().optional() }),
  ),
})
export type Comparison = z.infer<typeof Comparison>

export async function printComparison(comparison: Comparison): Promise<void> {
  const { a, b, n, difference, confidence_95, p, smallest_detectable, tasks } = comparison
  await printLine(`a ${a.id}: ${fixed(a.mean_score) ?? '–'}\nb ${b.id}: ${fixed(b.mean_score) ?? '–'}\n`)
  const rows = Object.entries(tasks).map(([name, task]) => [
    name,
    task.n,
    fixed(task.difference),
    task.confidence_95 ? interval(task.confidence_95) : null,
    fixed(task.p_corrected),
    task.significant ? 'yes' : '',
  ])
  rows.push([
    'all',
    n,
    fixed(difference),
    confidence_95 ? interval(confidence_95) : null,
    fixed(p),
    (p ?? 1) < 0.05 ? 'yes' : '',
  ])
  await printLine(tableOf(['', 'items', 'a − b', '95 % interval', 'p (corrected)', 'significant'], rows))
  if (smallest_detectable != null)
    await printLine(`\nThe smallest difference that these items could have shown: ${smallest_detectable.toFixed(3)}`)
}

function interval([low, high]: [number, number]): string {
  return `[${low.toFixed(3)}, ${high.toFixed(3)}]`
}
