/** Renders the report of a duel as one self-contained page. */
import type { DuelResult, DuelView } from '@reasoning-gym-server/contract/duel'
import { escapeHtml } from './chart.ts'
import { DUEL_TASK_HEADS, formatDuelVerdict, listDuelFigures, listDuelTaskRows } from './duel-text.ts'
import { renderDefinitionList, renderPage, renderRows, renderWarning } from './page.ts'

export function renderDuelHtml(view: DuelView): string {
  const title = `${view.a.name} against ${view.b.name}`
  const { status, progress, detail, result } = view
  const waiting = { status, progress: `${progress.done} samples`, ...(detail && { detail }) }
  return renderPage(title, result ? renderResult(view, result) : renderDefinitionList(waiting))
}

function renderResult(view: DuelView, result: DuelResult): string {
  return [
    `<p class="verdict">${escapeHtml(formatDuelVerdict(view, result))}</p>`,
    ...result.warnings.map(renderWarning),
    renderDefinitionList({
      status: view.status,
      ...Object.fromEntries(listDuelFigures(result)),
      ended: view.ended_at ?? '–',
    }),
    '<h2>By task</h2>',
    renderRows(DUEL_TASK_HEADS, listDuelTaskRows(result)),
    '<h2>To do it again</h2>',
    `<pre>${escapeHtml(JSON.stringify(result.repeat, null, 2))}</pre>`,
    '<p>The test is over all tasks together: each item’s task was drawn at random. e-value and interval hold whenever the duel ends (Waudby-Smith and Ramdas, arXiv 2010.09686); figures of single tasks are no verdicts.</p>',
  ].join('\n')
}
