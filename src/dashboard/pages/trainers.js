/** All trainers that the server supports, with their usage on this server. */
import { useResource } from '../data-hooks.js'
import { formatCount } from '../format.js'
import { html } from '../html.js'
import { ConnectionLostBanner, ErrorMessage, Loading, PageHeader, Panel } from '../parts/common.js'
import { RelativeTime } from '../parts/relative-time.js'
import { Table } from '../parts/table.js'

const REFRESH_INTERVAL_MS = 5000

export function TrainersPage() {
  const { value, problem, at } = useResource('adapters', { everyMs: REFRESH_INTERVAL_MS })
  return html`
    <${PageHeader} title="Trainers" about="Trainers that can get items and rewards from this server. Select one to see its configuration." />
    ${problem && (value ? html`<${ConnectionLostBanner} at=${at} problem=${problem} />` : html`<${ErrorMessage} problem=${problem} />`)}
    ${!value && !problem && html`<${Loading} />`}
    ${value && html`<${Panel}><${AdapterTable} adapters=${value.adapters} /><//>`}
  `
}

function AdapterTable({ adapters }) {
  return html`<${Table} label="Trainers">
      <thead>
        <tr><th>trainer</th><th>client code</th><th class="num">samples</th><th class="num">unscored</th><th>last run</th><th>last used</th></tr>
      </thead>
      <tbody>
        ${adapters.map(
          ({ name, title, client_file, usage }) => html`<tr>
            <th scope="row"><a href=${`#/trainers/${name}`}>${title}</a></th>
            <td>${client_file === null ? 'none' : html`<code>${client_file.split('/').at(-1)}</code>`}</td>
            <td class="num">${formatCount(usage.samples)}</td>
            <td class="num">${formatCount(usage.unscored)}</td>
            <td>${usage.last_run === null ? '–' : html`<a href=${`#/runs/${usage.last_run}`}>${usage.last_run}</a>`}</td>
            <td>${usage.last_used === null ? 'never' : html`<${RelativeTime} at=${usage.last_used} />`}</td>
          </tr>`,
        )}
      </tbody>
    <//>`
}
