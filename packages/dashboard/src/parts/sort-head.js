/** A heading that sorts its table. sorting.js has the orders. */
import { html } from '../html.js'
import { nextOrder, parseOrder } from '../sorting.js'

/** `name`: the key of the column. `order`: the current order. `up`: whether its plain order is ascending, as for texts. */
export function SortHead({ name, order, onOrder, up = false, class: className = '', children }) {
  const { key, reverse } = parseOrder(order)
  const isSorted = key === name
  const ascending = up !== reverse
  return html`<th class=${className} aria-sort=${isSorted ? (ascending ? 'ascending' : 'descending') : null}>
    <button class="sort" type="button" onClick=${() => onOrder(nextOrder(order, name))}>${children}${isSorted && (ascending ? ' ↑' : ' ↓')}</button>
  </th>`
}
