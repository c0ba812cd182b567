/** Small things: headings, tiles, chips, what to show while there is nothing. */
import { sentence, words } from '../format.js'
import { html } from '../html.js'

export function Head({ title, about, children }) {
  return html`<div class="head">
    <h1 tabindex="-1">${title}</h1>
    ${children}
    ${about && html`<p>${about}</p>`}
  </div>`
}

export function Panel({ title, about, width, children, ...rest }) {
  return html`<section class=${['panel', width].filter(Boolean).join(' ')} aria-label=${title} ...${rest}>
    ${title && html`<h2>${title}</h2>`}
    ${about && html`<p class="about">${about}</p>`}
    ${children}
  </section>`
}

/** `tiles`: [name, value, remark?] */
export function Tiles({ tiles }) {
  return html`<dl class="tiles">
    ${tiles.map(
      ([name, value, remark]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
          ${remark && html`<dd>${remark}</dd>`}
        </div>`,
    )}
  </dl>`
}

export function Chip({ tone = '', children }) {
  return html`<span class=${`chip ${tone}`}>${children}</span>`
}

/** A state in a sentence, first of all on its page. */
export function State({ tone, is, why, since }) {
  return html`<p class=${`state ${tone}`} role="status">
    <strong>${words(is).replace(/^./, (c) => c.toUpperCase())}</strong>
    <span>${sentence(why)}</span>
    ${since && html`<span class="soft">since ${since}</span>`}
  </p>`
}

/** What could not be had, in the server's words; `absent` where the server does not know the address yet. */
export function Trouble({ problem, absent }) {
  if (absent && problem.code === 'not_found') return html`<p class="empty">${absent}</p>`
  return html`<div class="problem" role="alert">
    <strong>${words(problem.code ?? 'problem')}</strong> – ${sentence(problem.message)}
    ${
      problem.errors?.length > 1 &&
      html`<ul>
      ${problem.errors.map(({ path, message }) => html`<li><code>${path}</code> ${message}</li>`)}
    </ul>`
    }
  </div>`
}

export function Loading() {
  return html`<p class="empty" role="status">Loading…</p>`
}

export function Empty({ children }) {
  return html`<div class="empty">${children}</div>`
}

/** A few choices of which one holds. `options`: [value, name] */
export function Choice({ label, value, options, onChange }) {
  return html`<div class="choice" role="group" aria-label=${label}>
    ${options.map(
      ([key, name]) =>
        html`<button type="button" aria-pressed=${String(key === value)} onClick=${() => onChange(key)}>${name}</button>`,
    )}
  </div>`
}
