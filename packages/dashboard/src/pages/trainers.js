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
        <tr><th>trainer</th><th class="from-m">client code</th><th class="num">samples</th><th class="num from-l">unscored</th><th class="from-l">last run</th><th>last used</th></tr>
      </thead>
      <tbody>
        ${adapters.map(
          ({ name, title, client_file, usage }) => html`<tr>
            <th scope="row"><a href=${`#/trainers/${name}`}>${title}</a>
              <small class="until-m">${client_file === null ? 'no client code' : client_file.split('/').at(-1)}</small>
            </th>
            <td class="from-m">${client_file === null ? 'none' : html`<code>${client_file.split('/').at(-1)}</code>`}</td>
            <td class="num">${formatCount(usage.samples)}</td>
            <td class="num from-l">${formatCount(usage.unscored)}</td>
            <td class="from-l">${usage.last_run === null ? '–' : html`<a href=${`#/runs/${usage.last_run}`}>${usage.last_run}</a>`}</td>
            <td>${usage.last_used === null ? 'never' : html`<${RelativeTime} at=${usage.last_used} />`}</td>
          </tr>`,
        )}
      </tbody>
    <//>`
}
