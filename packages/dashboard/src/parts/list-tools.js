/** What lists share: pages from the server, a search field, a select, what is picked, and how far a search went. */
import { fetchJson } from '../api.js'
import { useResource } from '../data-hooks.js'
import { formatCount, pluralize } from '../format.js'
import { html, useEffect, useRef, useState } from '../html.js'
import { EmptyState, ErrorMessage, Loading } from './common.js'

const SEARCH_DELAY_MS = 400

/** Number of pages that a search loads by itself if they hold little. */
const MAX_SEARCH_PAGES = 20

/** @type {{ of?: any, pages: any[], trouble?: Error, busy: boolean }} */
const NO_PAGES = { pages: [], busy: false }

/**
 * Loads pages of `url`. A new address or a reload discards the later pages. `wanted`: the number of entries up to which a
 * search goes on by itself, because a page of it ends after so much text; `countOf`: the entries of a page.
 */
export function usePages(url, { wanted = 0, countOf = (_page) => 0 } = {}) {
  const first = useResource(url)
  const [later, setLater] = useState(NO_PAGES)
  const { value } = first
  const { pages, trouble, busy } = later.of === value ? later : NO_PAGES
  const shown = [value, ...pages].filter(Boolean)
  const next = shown.at(-1)?.next_cursor ?? null
  const more = () => {
    if (busy || next === null) return
    setLater({ of: value, pages, trouble: undefined, busy: true })
    const end = (then) => setLater((now) => (now.of === value ? { of: value, ...then, busy: false } : now)) // another list may be shown
    fetchJson(`${url}&cursor=${encodeURIComponent(next)}`).then(
      (page) => end({ pages: [...pages, page], trouble: undefined }),
      (problem) => end({ pages, trouble: problem }),
    )
  }
  const count = shown.reduce((sum, page) => sum + countOf(page), 0)
  const goesOn = next !== null && count < wanted && shown.length < MAX_SEARCH_PAGES && !trouble
  useEffect(() => {
    if (goesOn) more()
  }, [goesOn, shown.length, value])
  return { ...first, pages: shown, next, more, trouble, busy: busy || goesOn }
}

/** Applies the text a moment after the last key, or at once with Enter. */
export function SearchField({ label, value, onChange }) {
  const [text, setText] = useState(value)
  const timer = useRef(undefined)
  useEffect(() => setText(value), [value])
  const apply = (typed) => {
    clearTimeout(timer.current)
    onChange(typed.trim())
  }
  const input = ({ target }) => {
    setText(target.value)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => apply(target.value), SEARCH_DELAY_MS)
  }
  return html`<label>${label}
    <input type="search" maxlength="200" value=${text} onInput=${input} onKeyDown=${({ key, target }) => key === 'Enter' && apply(target.value)} />
  </label>`
}

/** `options`: values, or an object of their names. `nameOf`: the name of a value. */
export function FilterSelect({ label, value, options, any, nameOf, onChange }) {
  const keys = Array.isArray(options) ? options : Object.keys(options)
  const draw = nameOf ?? ((key) => (keys === options ? key : options[key]))
  return html`<label>${label}
    <select value=${value} onChange=${({ target }) => onChange(target.value)}>
      ${any && html`<option value="">${any}</option>`}
      ${keys.map((key) => html`<option value=${key} selected=${key === value}>${draw(key)}</option>`)}
    </select>
  </label>`
}

/**
 * A list of `usePages` beside the entry that is read, if the address names one. `rows`: drawn. `what`: 'samples'. `empty`: what an
 * empty list says. Other properties are those of the list's element.
 */
export function Reader({ list, rows, what, empty, reading, ...rest }) {
  const { next, more, busy, trouble } = list
  return html`
    ${list.problem && html`<${ErrorMessage} problem=${list.problem} absent=${`This server does not support listing ${what}.`} />`}
    ${!list.value && !list.problem && html`<${Loading} />`}
    ${list.value && rows.length === 0 && html`<${EmptyState}>${empty}<//>`}
    <div class=${reading ? 'reader open' : 'reader'}>
      ${reading}
      <div class="entries" ...${rest}>
        <ul aria-label=${`List of ${what}`}>${rows}</ul>
        ${trouble && html`<${ErrorMessage} problem=${trouble} />`}
        ${next !== null && html`<p class="more"><button type="button" disabled=${busy} onClick=${more}>${busy ? 'Loading…' : `More ${what}`}</button></p>`}
      </div>
    </div>
  `
}

/** A search is bounded, so it says how far it went. */
export function describeSearch(searched, total, what) {
  return `Searched ${formatCount(Math.min(searched, total))} of ${formatCount(total)} ${what}`
}

/** Ids that are picked for a comparison, at most the last `most`. */
export function usePicked(most) {
  const [picked, setPicked] = useState([])
  const pick = (id) =>
    setPicked((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(-most)))
  return { picked, pick, clear: () => setPicked([]) }
}

/** The column of a table with boxes that pick its rows. */
export function pickColumn(idOf, picked, onPick) {
  const draw = (row) => {
    const id = idOf(row)
    return html`<input type="checkbox" aria-label=${`Select ${id}`} checked=${picked.includes(id)} onChange=${() => onPick(id)} />`
  }
  return [html`<span class="unseen">select</span>`, draw, 'pick']
}

export function ListCount({ shown, all, name }) {
  const of = shown.length === all.length ? '' : `${formatCount(shown.length)} of `
  return html`<span class="end" role="status">${of}${pluralize(all.length, name)}</span>`
}
