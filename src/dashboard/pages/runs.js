/** All runs. */
import { useEvery, useLoad } from '../hooks.js'
import { html } from '../html.js'
import { Empty, Head, Loading, Panel, Trouble } from '../parts/bits.js'
import { RunsTable } from '../parts/runs-table.js'

export function RunsPage() {
  const { value, problem, reload } = useLoad('runs')
  useEvery(5000, reload)
  return html`
    <${Head} title="Runs" about="Training runs: nodes that name the same run share its settings, items, buffer and curriculum." />
    ${problem ? html`<${Trouble} problem=${problem} />` : !value ? html`<${Loading} />` : html`<${List} runs=${value.runs} />`}
  `
}

function List({ runs }) {
  if (runs.length === 0)
    return html`<${Panel}><${Empty}>No run yet: the first <code>POST /items</code> or <code>PUT /runs/NAME</code> makes one.<//><//>`
  return html`<${Panel}><${RunsTable} runs=${runs} /><//>`
}
