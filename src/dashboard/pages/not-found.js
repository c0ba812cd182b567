/** What an address leads to that names no page. */
import { html } from '../html.js'
import { EmptyState, PageHeader, Panel } from '../parts/common.js'

export function NotFoundPage() {
  return html`
    <${PageHeader} title="No such page" />
    <${Panel}><${EmptyState}>
      There is nothing at <code>${location.hash}</code>: go to the <a href="#/">overview</a>, the
      ${' '}<a href="#/tasks">tasks</a>, the <a href="#/runs">runs</a> or the <a href="#/evals">evals</a>.
    <//><//>
  `
}
