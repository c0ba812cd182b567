/** Shared components: headings, tabs, panels, tiles, chips, times, help, and the states for loading, empty and error. */
import { describeStatus } from '../eval-facts.js'
import { formatDateTime, formatElapsed, formatTime, formatTimeAgo, humanize, pluralize, toSentence } from '../format.js'
import { useInterval } from '../hooks.js'
import { html, useEffect, useRef, useState } from '../html.js'
import { getTone } from '../run-facts.js'

const TIME_INTERVAL_MS = 5000

export function PageHeader({ title, about, children }) {
  return html`<div class="head">
    <h1 tabindex="-1">${title}</h1>
    ${children}
    ${about && html`<p>${about}</p>`}
  </div>`
}

/** `width`: columns of the twelve of a grid. */
export function Panel({ title, about, width, children, ...rest }) {
  return html`<section class="panel" style=${{ '--columns': width }} aria-label=${title} ...${rest}>
    ${title && html`<h2>${title}</h2>`}
    ${about && html`<p class="about">${about}</p>`}
    ${children}
  </section>`
}

export function StatTiles({ children }) {
  return html`<dl class="tiles">${children}</dl>`
}

/** A figure with its name; `note` says more about it. */
export function Tile({ name, value, note }) {
  return html`<div><dt>${name}</dt><dd>${value}</dd>${note && html`<dd>${note}</dd>`}</div>`
}

export function Chip({ tone = '', children }) {
  return html`<span class=${`chip ${tone}`}>${children}</span>`
}

/** The state of a run and its warnings, because a run that has ended may have ended badly. `why`: the first warning. */
export function RunStateChips({ state, lifecycle, warnings, why }) {
  if (!state) return '–'
  const chip = html`<${Chip} tone=${getTone(state)}>${lifecycle === 'archived' ? 'archived' : humanize(state.is)}<//>`
  return html`${chip}${warnings > 0 && html` <span title=${why}><${Chip} tone="bad">${pluralize(warnings, 'warning')}<//></span>`}`
}

/** The status of an eval. `share`: adds how much of it is done. */
export function StatusChip({ value, share = false }) {
  const { tone, text } = describeStatus(value, { share })
  return html`<${Chip} tone=${tone}>${text}<//>`
}

/**
 * A state with its explanation, at the top of a page. `from`: when the state began; screen readers do not announce its updates.
 * `children`: a link to what it is about.
 */
export function StatusBanner({ tone, is, why, from, children }) {
  return html`<div class=${`state ${tone}`}>
    <p role="status">
      <strong>${humanize(is).replace(/^./, (c) => c.toUpperCase())}</strong>
      <span>${toSentence(why)}${children && html` ${children}`}</span>
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

/** The state of what `useResource` loads: an error, old data, or loading; nothing while all is well. */
export function ResourceState({ value, problem, at, absent }) {
  if (problem && value) return html`<${ConnectionLostBanner} at=${at} problem=${problem} />`
  if (problem) return html`<${ErrorMessage} problem=${problem} absent=${absent} />`
  return value ? null : html`<${Loading} />`
}

/**
 * What a page shows in place of its content until that is loaded. `list`: the section that lists what it is one of. This is no
 * component, so that the heading stays the same element, and keeps the focus, when the content comes.
 * @param {{ title: string, problem?: any, absent?: string, list?: string }} props
 */
export function showPending({ title, problem, absent, list }) {
  const back = html`<a class="end" href=${`#/${list}`}>All ${list}</a>`
  return html`<${PageHeader} title=${title}>${problem && list && back}<//><${ResourceState} problem=${problem} absent=${absent} />`
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

/** A choice of one option. `options`: the names by value. */
export function SegmentedControl({ label, value, options, onChange }) {
  return html`<div class="choice" role="group" aria-label=${label}>
    ${Object.entries(options).map(
      ([key, name]) =>
        html`<button type="button" aria-pressed=${String(key === value)} onClick=${() => onChange(key)}>${name}</button>`,
    )}
  </div>`
}

/** Links to the views of a page. `tabs`: [view, name, href]. `view` is the current one. */
export function Tabs({ label, view, tabs }) {
  return html`<nav class="tabs" aria-label=${label}>
    ${tabs.map(([key, name, href]) => html`<a href=${href} aria-current=${key === view ? 'page' : null}>${name}</a>`)}
  </nav>`
}

/** A time as how long ago it was. It updates itself; its tooltip shows the date and time zone. `at`: ISO 8601, or milliseconds since 1970. */
export function RelativeTime({ at, format = formatTimeAgo }) {
  const [, turn] = useState(0)
  useInterval(TIME_INTERVAL_MS, () => turn((round) => round + 1))
  const then = typeof at === 'number' ? at : Date.parse(at)
  if (!Number.isFinite(then)) return '–'
  return html`<time dateTime=${new Date(then).toISOString()} title=${formatDateTime(then)}>${format(then)}</time>`
}

/** A question mark that explains a figure. */
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
