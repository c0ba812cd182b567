/** Renders the report of a duel as Markdown for a pull request, an issue or a model card. */
import type { DuelView } from '@reasoning-gym-server/contract/duel'
import { DUEL_TASK_HEADS, formatDuelVerdict, listDuelFigures, listDuelTaskRows } from './duel-text.ts'
import { escapeMarkdown } from './markdown.ts'

export function renderDuelMarkdown(view: DuelView): string {
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
    `| ${DUEL_TASK_HEADS.join(' | ')} |`,
    `|---|${'---:|'.repeat(DUEL_TASK_HEADS.length - 1)}`,
    ...listDuelTaskRows(result).map((cells) => `| ${cells.map(escapeMarkdown).join(' | ')} |`),
    '',
    `Duel \`${id}\` (${status}). The test is over all tasks together; figures of single tasks are no verdicts.`,
  ]
  return `${lines.join('\n')}\n`
}
