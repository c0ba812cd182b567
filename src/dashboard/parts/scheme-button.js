/** Light, dark, or as the system has it. */
import { html, useEffect, useState } from '../html.js'

const ORDER = ['system', 'light', 'dark']
const KEY = 'rgs-scheme'

export function SchemeButton() {
  const [scheme, setScheme] = useState(() => localStorage.getItem(KEY) ?? 'system')
  useEffect(() => {
    const { dataset } = document.documentElement
    if (scheme === 'system') delete dataset.scheme
    else dataset.scheme = scheme
    localStorage.setItem(KEY, scheme)
    dispatchEvent(new Event('scheme'))
  }, [scheme])
  const next = ORDER[(ORDER.indexOf(scheme) + 1) % ORDER.length]
  return html`<button
    class="quiet"
    type="button"
    title=${`Colours: ${scheme}. Switch to ${next}.`}
    aria-label=${`Colours: ${scheme}. Switch to ${next}`}
    onClick=${() => setScheme(next)}
  >
    ${{ system: '◐', light: '○', dark: '●' }[scheme]}
  </button>`
}
