/** A task's config as a table: what each field may be, and what it is at the chosen rung. */
import { html } from '../html.js'
import { Table } from './table.js'

export function ConfigTable({ schema, config }) {
  const fields = Object.entries(schema.properties ?? {})
  if (fields.length === 0) return html`<p class="soft">Nothing can be set.</p>`
  return html`<${Table} label="Config">
      <thead>
        <tr><th>field</th><th>type</th><th>bounds</th><th>default</th>${config && html`<th>at this rung</th>`}</tr>
      </thead>
      <tbody>
        ${fields.map(
          ([name, field]) => html`<tr>
            <th scope="row"><code>${name}</code></th>
            <td>${formatType(field)}</td>
            <td>${formatBounds(field)}</td>
            <td><code>${formatValue(field.default)}</code></td>
            ${config && html`<td>${name in config ? html`<code>${formatValue(config[name])}</code>` : html`<span class="soft">default</span>`}</td>`}
          </tr>`,
        )}
      </tbody>
    <//>`
}

function formatType(field) {
  if (field.enum) return 'one of'
  if (field.anyOf) return field.anyOf.map(formatType).join(' or ')
  if (field.type === 'array') return `list of ${field.items ? formatType(field.items) : 'anything'}`
  return [field.type ?? 'anything'].flat().join(' or ')
}

function formatBounds(field) {
  if (field.enum) return field.enum.map(formatValue).join(', ')
  const inner = field.items && formatBounds(field.items)
  return [formatRange(field), inner].filter(Boolean).join('; ')
}

/** A bound that itself may not be is told apart from one that may. */
function formatRange({ minimum, exclusiveMinimum, minItems, maximum, exclusiveMaximum, maxItems }) {
  const least = minimum ?? minItems
  const most = maximum ?? maxItems
  if (least !== undefined && most !== undefined) return `${least} to ${most}`
  const low = least !== undefined ? `from ${least}` : exclusiveMinimum !== undefined ? `above ${exclusiveMinimum}` : ''
  const high = most !== undefined ? `up to ${most}` : exclusiveMaximum !== undefined ? `below ${exclusiveMaximum}` : ''
  return [low, high].filter(Boolean).join(', ')
}

function formatValue(value) {
  const text = value === undefined ? '–' : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
