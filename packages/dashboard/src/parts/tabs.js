/** The tabs of a page: links to its views. */
import { html } from '../html.js'

/** `tabs`: [view, name, href]. `view` is the current one. */
export function Tabs({ label, view, tabs }) {
  return html`<nav class="tabs" aria-label=${label}>
    ${tabs.map(([key, name, href]) => html`<a href=${href} aria-current=${key === view ? 'page' : null}>${name}</a>`)}
  </nav>`
}
