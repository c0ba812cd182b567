/** The config fields of a task: type, bounds, default, and the value at the selected level. */
import { html } from '../html.js'
import { Table } from './table.js'

export function ConfigTable({ schema, config }) {
  const fields = Object.entries(schema.properties ?? {})
  if (fields.length === 0) return html`<p class="soft">This task has no config fields.</p>`
  return html`<${Table} label="Config">
      <thead>
        <tr><th>field</th><th class="from-m">type</th><th class="from-l">bounds</th><th>default</th>${config && html`<th>at this level</th>`}</tr>
      </thead>
      <tbody>
        ${fields.map(
          ([name, field]) => html`<tr>
            <th scope="row"><code>${name}</code><small class="until-m">${formatType(field)}</small><small class="until-l">${formatBounds(field)}</small></th>
            <td class="from-m">${formatType(field)}</td>
            <td class="from-l">${formatBounds(field)}</td>
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
  if (field.type === 'array') return `list of ${field.items ? formatType(field.items) : 'any'}`
  return [field.type ?? 'any'].flat().join(' or ')
}

function formatBounds(field) {
  if (field.enum) return field.enum.map(formatValue).join(', ')
  const inner = field.items && formatBounds(field.items)
  return [formatRange(field), inner].filter(Boolean).join('; ')
}

/** Distinguishes exclusive from inclusive bounds. */
function formatRange({ minimum, exclusiveMinimum, minItems, maximum, exclusiveMaximum, maxItems }) {
  const least = minimum ?? minItems
  const most = maximum ?? maxItems
  if (least !== undefined && most !== undefined) return `${least} to ${most}`
  const low =
    least !== undefined ? `at least ${least}` : exclusiveMinimum !== undefined ? `above ${exclusiveMinimum}` : ''
  const high =
    most !== undefined ? `at most ${most}` : exclusiveMaximum !== undefined ? `below ${exclusiveMaximum}` : ''
  return [low, high].filter(Boolean).join(', ')
}

function formatValue(value) {
  const text = value === undefined ? '–' : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
