/**
 * Tables, and headings that sort them. Narrow containers drop secondary columns, so that the columns with a score are always in sight:
 *
 * - `class="from-m"` on the `th` and every `td` of a column: shown from a container width of 480 px.
 * - `class="from-l"`: shown from 840 px.
 * - `class="until-m"` and `class="until-l"`: the opposite, for an element inside the first cell that repeats a dropped column as
 *   a second line: `<small class="until-m">12 groups</small>`.
 * - `class="name"` on a cell with a name that people choose: it may break anywhere.
 *
 * The classes combine with others, such as `class="num from-m"`. A table that is still too wide scrolls: it is reachable by
 * keyboard, its edge has a shadow, and a line above it says so.
 */
import { html, useEffect, useRef, useState } from '../html.js'
import { nextOrder, parseOrder } from '../sorting.js'

/**
 * A table with a row for each of `rows`. `columns`: [heading, render(row, index), class, sort], the last two optional; the class
 * is that of the heading and of the cells, `sort` has the `name` and `up` of a `SortHead`. Columns that are false or null are left out.
 * `header`: the column that names the row, or -1. `getProps`: `key` and `class` of a row.
 */
export function DataTable({
  label,
  rows,
  columns,
  header = 0,
  caption,
  order,
  onOrder,
  getProps = (_row, _index) => ({}),
}) {
  const shown = columns.filter(Boolean)
  const head = ([name, , className, sort]) =>
    sort
      ? html`<${SortHead} class=${className} order=${order} onOrder=${onOrder} ...${sort}>${name}<//>`
      : html`<th class=${className}>${name}</th>`
  const cell = (row, index) => (column, k) => {
    const [, render, className] = column
    const content = render(row, index)
    return k === header
      ? html`<th scope="row" class=${className}>${content}</th>`
      : html`<td class=${className}>${content}</td>`
  }
  return html`<${Table} label=${label}>
    ${caption}
    <thead><tr>${shown.map(head)}</tr></thead>
    <tbody>${rows.map((row, index) => html`<tr ...${getProps(row, index)}>${shown.map(cell(row, index))}</tr>`)}</tbody>
  <//>`
}

function Table({ label, children }) {
  const box = useRef(null)
  const [scrolls, setScrolls] = useState(false)
  useEffect(() => {
    const element = box.current
    const observer = new ResizeObserver(() => setScrolls(element.scrollWidth > element.clientWidth + 1))
    observer.observe(element)
    observer.observe(element.querySelector('table'))
    return () => observer.disconnect()
  }, [])
  const reach = scrolls ? { tabindex: 0, role: 'group', 'aria-label': label } : {}
  return html`<div class="table" ref=${box} ...${reach}>
    ${scrolls && html`<p class="sideways" aria-hidden="true">Scroll sideways for more columns →</p>`}
    <table aria-label=${label}>${children}</table>
  </div>`
}

/** A heading that sorts its table. `name`: the key of the column. `order`: the current order. `up`: whether its plain order is ascending, as for texts. */
function SortHead({ name, order, onOrder, up = false, class: className = '', children }) {
  const { key, reverse } = parseOrder(order)
  const isSorted = key === name
  const ascending = up !== reverse
  return html`<th class=${className} aria-sort=${isSorted ? (ascending ? 'ascending' : 'descending') : null}>
    <button class="sort" type="button" onClick=${() => onOrder(nextOrder(order, name))}>${children}${isSorted && (ascending ? ' ↑' : ' ↓')}</button>
  </th>`
}
