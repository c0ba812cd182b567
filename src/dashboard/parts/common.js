/** Small things: headings, tiles, chips, what to show while there is nothing. */
import { formatElapsed, formatTime, humanize, toSentence } from '../format.js'
import { html } from '../html.js'
import { RelativeTime } from './relative-time.js'

export function PageHeader({ title, about, children }) {
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
export function StatTiles({ tiles }) {
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

/** A state in a sentence, first of all on its page; `from` is when it began, which is not read out as it grows. */
export function StatusBanner({ tone, is, why, from }) {
  return html`<div class=${`state ${tone}`}>
    <p role="status">
      <strong>${humanize(is).replace(/^./, (c) => c.toUpperCase())}</strong>
      <span>${toSentence(why)}</span>
    </p>
    ${from && html`<span class="soft">for <${RelativeTime} at=${from} format=${formatElapsed} /></span>`}
  </div>`
}

/** What was heard last says nothing of now: whoever looks for health must not read that all is well. */
export function ConnectionLostBanner({ at, problem }) {
  const last = `The server was last heard at ${formatTime(at)}; what follows is from then`
  if (!problem || problem.status === 0) return html`<${StatusBanner} tone="warn" is="no answer" why=${last} />`
  return html`<${StatusBanner} tone="warn" is=${problem.code} why=${`${toSentence(problem.message)} ${last}`} />`
}

/** What could not be had, in the server's words; `absent` where the server does not know the address yet. */
export function ErrorMessage({ problem, absent }) {
  if (absent && problem.code === 'not_found') return html`<p class="empty">${absent}</p>`
  return html`<div class="problem" role="alert">
    <strong>${humanize(problem.code ?? 'problem')}</strong> – ${toSentence(problem.message)}
    ${
      problem.errors?.length > 1 &&
      html`<ul>
      ${problem.errors.map(({ path, message }) => html`<li><code>${path}</code> ${message}</li>`)}
    </ul>`
    }
  </div>`
}

export function Loading({ children = 'Loading…' }) {
  return html`<p class="empty" role="status">${children}</p>`
}

/** Whether what the page shows is of now. */
export function LiveIndicator({ live }) {
  return html`<span class="end"><${Chip} tone=${live ? 'good' : ''}>${live ? 'live' : 'not live'}<//></span>`
}

export function EmptyState({ children }) {
  return html`<div class="empty">${children}</div>`
}

/** A few choices of which one holds. `options`: [value, name] */
export function SegmentedControl({ label, value, options, onChange }) {
  return html`<div class="choice" role="group" aria-label=${label}>
    ${options.map(
      ([key, name]) =>
        html`<button type="button" aria-pressed=${String(key === value)} onClick=${() => onChange(key)}>${name}</button>`,
    )}
  </div>`
}
