/** The report of an eval for a pull request, an issue or a model card. */
import type { EvalView, Figures } from '../../words/eval.ts'
import { COLUMNS, percent, score, withError } from './numbers.ts'

export function markdownReport({ model, suite, status, progress, detail, result, id }: EvalView): string {
  const lines = [`# ${plain(model?.name ?? 'A model')} on ${plain(suite.name)}`, '']
  if (!result) {
    lines.push(`${status}: ${progress.done} of ${progress.total} samples, ${progress.failed} failed. ${detail ?? ''}`)
    return `${lines.join('\n').trimEnd()}\n`
  }
  lines.push(
    `**${withError(result)}** mean score (± 95 %, clustered by item), accuracy ${percent(result.accuracy)}, format faults ${percent(result.format_faults)}; ` +
      `${score(result.mean_score_failures_wrong)} with unscored and missing samples as wrong.`,
    '',
    `${result.n} samples of ${result.items} items: ${result.unscored} unscored, ${result.missing} missing, ${result.truncated} truncated. ` +
      `pass@k: ${Object.entries(result.pass_at)
        .map(([k, chance]) => `${k}: ${percent(chance)}`)
        .join(', ')}.`,
    '',
    ...result.warnings.flatMap((warning) => [`> ${warning}`, '']),
    ...table('category', result.categories),
    ...table('task', result.tasks),
    ...(Object.keys(result.difficulties).length > 1 ? table('difficulty', result.difficulties) : []),
    `Eval \`${id}\` (${status}), suite sha256 \`${suite.sha256 ?? 'unknown'}\`.`,
  )
  return `${lines.join('\n')}\n`
}

function table(head: string, parts: Record<string, Figures>): string[] {
  return [
    `| ${[head, ...COLUMNS.map(([name]) => name)].join(' | ')} |`,
    `|---|${COLUMNS.map(() => '---:|').join('')}`,
    ...Object.entries(parts).map(
      ([name, figures]) => `| ${[plain(name), ...COLUMNS.map(([, cell]) => cell(figures))].join(' | ')} |`,
    ),
    '',
  ]
}

/** Names come from callers: no table, link or tag of theirs. */
function plain(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').replace(/[\\`*[\]<>|#]/g, (mark) => `\\${mark}`)
}
