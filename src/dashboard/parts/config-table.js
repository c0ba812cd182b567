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
            <td>${typeOf(field)}</td>
            <td>${boundsOf(field)}</td>
            <td><code>${shown(field.default)}</code></td>
            ${config && html`<td>${name in config ? html`<code>${shown(config[name])}</code>` : html`<span class="soft">default</span>`}</td>`}
          </tr>`,
        )}
      </tbody>
    <//>`
}

function typeOf(field) {
  if (field.enum) return 'one of'
  if (field.anyOf) return field.anyOf.map(typeOf).join(' or ')
  if (field.type === 'array') return `list of ${field.items ? typeOf(field.items) : 'anything'}`
  return [field.type ?? 'anything'].flat().join(' or ')
}

function boundsOf(field) {
  if (field.enum) return field.enum.map(shown).join(', ')
  const least = field.minimum ?? field.exclusiveMinimum ?? field.minItems
  const most = field.maximum ?? field.exclusiveMaximum ?? field.maxItems
  const inner = field.items && boundsOf(field.items)
  const own =
    least !== undefined && most !== undefined
      ? `${least} to ${most}`
      : least !== undefined
        ? `from ${least}`
        : most !== undefined
          ? `up to ${most}`
          : ''
  return [own, inner].filter(Boolean).join('; ')
}

function shown(value) {
  const text = value === undefined ? '–' : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
