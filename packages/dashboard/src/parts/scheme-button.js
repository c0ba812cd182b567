/** Switches between the light, dark and system color schemes. */
import { html, useEffect, useState } from '../html.js'

const SCHEMES = ['system', 'light', 'dark']
const STORAGE_KEY = 'rgs-scheme'

export function ColorSchemeButton() {
  const [scheme, setScheme] = useState(() => localStorage.getItem(STORAGE_KEY) ?? 'system')
  useEffect(() => {
    const { dataset } = document.documentElement
    if (scheme === 'system') delete dataset.scheme
    else dataset.scheme = scheme
    localStorage.setItem(STORAGE_KEY, scheme)
    dispatchEvent(new Event('scheme'))
  }, [scheme])
  const next = SCHEMES[(SCHEMES.indexOf(scheme) + 1) % SCHEMES.length]
  return html`<button
    class="quiet"
    type="button"
    title=${`Color scheme: ${scheme}. Switch to ${next}.`}
    aria-label=${`Color scheme: ${scheme}. Switch to ${next}`}
    onClick=${() => setScheme(next)}
  >
    ${{ system: '◐', light: '○', dark: '●' }[scheme]}
  </button>`
}
