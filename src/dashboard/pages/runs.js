/** All runs. */

import { html } from '../html.js'
import { useLoad } from '../loading.js'
import { Empty, Head, Loading, Panel, Trouble, Unheard } from '../parts/bits.js'
import { RunsTable } from '../parts/runs-table.js'

export function RunsPage() {
  const { value, problem, at } = useLoad('runs', { everyMs: 5000 })
  return html`
    <${Head} title="Runs" about="Training runs: nodes that name the same run share its settings, items, buffer and curriculum." />
    ${problem && (value ? html`<${Unheard} at=${at} problem=${problem} />` : html`<${Trouble} problem=${problem} />`)}
    ${!value && !problem && html`<${Loading} />`}
    ${value && html`<${List} runs=${value.runs} />`}
  `
}

function List({ runs }) {
  if (runs.length === 0)
    return html`<${Panel}><${Empty}>No run yet: the first <code>POST /items</code> or <code>PUT /runs/NAME</code> makes one.<//><//>`
  return html`<${Panel}><${RunsTable} runs=${runs} /><//>`
}
