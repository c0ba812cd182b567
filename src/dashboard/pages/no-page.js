/** What an address leads to that names no page. */
import { html } from '../html.js'
import { Empty, Head, Panel } from '../parts/bits.js'

export function NoPage() {
  return html`
    <${Head} title="No such page" />
    <${Panel}><${Empty}>
      There is nothing at <code>${location.hash}</code>: go to the <a href="#/">overview</a>, the
      ${' '}<a href="#/tasks">tasks</a>, the <a href="#/runs">runs</a> or the <a href="#/evals">evals</a>.
    <//><//>
  `
}
