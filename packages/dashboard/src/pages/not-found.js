/** The page for an unknown address. */
import { html } from '../html.js'
import { EmptyState, PageHeader, Panel } from '../parts/common.js'

export function NotFoundPage() {
  return html`
    <${PageHeader} title="Page not found" />
    <${Panel}><${EmptyState}>
      There is no page at <code>${location.hash}</code>. Go to the <a href="#/">overview</a>, the
      ${' '}<a href="#/tasks">tasks</a>, the <a href="#/runs">runs</a> or the <a href="#/evals">evals</a>.
    <//><//>
  `
}
