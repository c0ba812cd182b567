/** The list of all runs. */

import { useResource } from '../data-hooks.js'
import { html } from '../html.js'
import { ConnectionLostBanner, EmptyState, ErrorMessage, Loading, PageHeader, Panel } from '../parts/common.js'
import { RunsTable } from '../parts/runs-table.js'

export function RunsPage() {
  const { value, problem, at } = useResource('runs', { everyMs: 5000 })
  return html`
    <${PageHeader} title="Runs" about="A run holds the state of one training run. All nodes that use its name share its settings, items, buffer and curriculum." />
    ${problem && (value ? html`<${ConnectionLostBanner} at=${at} problem=${problem} />` : html`<${ErrorMessage} problem=${problem} />`)}
    ${!value && !problem && html`<${Loading} />`}
    ${value && html`<${RunList} runs=${value.runs} />`}
  `
}

function RunList({ runs }) {
  if (runs.length === 0)
    return html`<${Panel}><${EmptyState}>There are no runs yet. The first <code>POST /items</code> or <code>PUT /runs/NAME</code> with a new name creates one.<//><//>`
  return html`<${Panel}><${RunsTable} runs=${runs} /><//>`
}
