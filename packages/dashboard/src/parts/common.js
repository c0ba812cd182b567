/** Shared components: headings, panels, tiles, chips, and the states for loading, empty and error. */
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

/** `tiles`: [name, value, note?] */
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

/** A state with its explanation, at the top of a page. `from`: when the state began; screen readers do not announce its updates. */
export function StatusBanner({ tone, is, why, from }) {
  return html`<div class=${`state ${tone}`}>
    <p role="status">
      <strong>${humanize(is).replace(/^./, (c) => c.toUpperCase())}</strong>
      <span>${toSentence(why)}</span>
    </p>
    ${from && html`<span class="soft">for <${RelativeTime} at=${from} format=${formatElapsed} /></span>`}
  </div>`
}

/** Says that the data is old, so that stale data does not look like good health. */
export function ConnectionLostBanner({ at, problem }) {
  const last = `The data below is from ${formatTime(at)}, the time of the last response`
  if (!problem || problem.status === 0) return html`<${StatusBanner} tone="warn" is="connection lost" why=${last} />`
  return html`<${StatusBanner} tone="warn" is=${problem.code} why=${`${toSentence(problem.message)} ${last}`} />`
}

/** An error in the server's words. `absent` replaces it if the server does not have the endpoint. */
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

/** Shows whether the page receives live updates. */
export function LiveIndicator({ live }) {
  return html`<span class="end"><${Chip} tone=${live ? 'good' : ''}>${live ? 'live' : 'not live'}<//></span>`
}

export function EmptyState({ children }) {
  return html`<div class="empty">${children}</div>`
}

/** A choice of one option. `options`: [value, name] */
export function SegmentedControl({ label, value, options, onChange }) {
  return html`<div class="choice" role="group" aria-label=${label}>
    ${options.map(
      ([key, name]) =>
        html`<button type="button" aria-pressed=${String(key === value)} onClick=${() => onChange(key)}>${name}</button>`,
    )}
  </div>`
}
