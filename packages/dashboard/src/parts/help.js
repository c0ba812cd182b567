/** A question mark that explains a figure. */
import { html, useEffect, useRef } from '../html.js'

export function Help({ about, children }) {
  const box = useRef(null)
  useEffect(() => {
    const close = (event) => {
      if (event.key === 'Escape' || !box.current?.contains(event.target)) box.current?.removeAttribute('open')
    }
    addEventListener('click', close)
    addEventListener('keydown', close)
    return () => {
      removeEventListener('click', close)
      removeEventListener('keydown', close)
    }
  }, [])
  return html`<details class="help" ref=${box}>
    <summary aria-label=${`About ${about}`}>?</summary>
    <p>${children}</p>
  </details>`
}
