/**
 * The container of a table. Narrow containers drop secondary columns, so that the columns with a score are always in sight:
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

export function Table({ label, children }) {
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
    <table>${children}</table>
  </div>`
}
