/** The container of a table. If the table is wider than the page, it scrolls and is reachable by keyboard. */
import { html, useEffect, useRef, useState } from '../html.js'

export function Table({ label, children }) {
  const box = useRef(null)
  const [scrolls, setScrolls] = useState(false)
  useEffect(() => {
    const element = box.current
    const observer = new ResizeObserver(() => setScrolls(element.scrollWidth > element.clientWidth))
    observer.observe(element)
    observer.observe(element.firstElementChild)
    return () => observer.disconnect()
  }, [])
  const reach = scrolls ? { tabindex: 0, role: 'region', 'aria-label': label } : {}
  return html`<div class="table" ref=${box} ...${reach}><table>${children}</table></div>`
}
