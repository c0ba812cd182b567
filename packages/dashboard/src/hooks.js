/** Hooks for the address, arrow keys, element widths, the color scheme and intervals. */
import { useEffect, useRef, useState } from './html.js'

const PAINT_MS = 50

/** Calls `act` every `ms` while the tab is visible. */
export function useInterval(ms, act) {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && latest.current(), ms)
    return () => clearInterval(timer)
  }, [ms])
}

/** `#/runs/NAME?task=x` as `{ parts: ['runs', 'NAME'], query }`. */
export function useHashRoute() {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const turn = () => setHash(location.hash)
    addEventListener('hashchange', turn)
    addEventListener('query', turn)
    turn() // effects run after the paint, and the address may have changed since it was drawn
    return () => {
      removeEventListener('hashchange', turn)
      removeEventListener('query', turn)
    }
  }, [])
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  return { parts: path.split('/').filter(Boolean).map(decodeSegment), query: new URLSearchParams(query) }
}

/** The address of a path with the filters of the current address, and `changes` to them. */
export function addressOf(path, changes = {}) {
  const [, query = ''] = location.hash.split('?')
  const fields = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === null || value === '') fields.delete(name)
    else fields.set(name, value)
  }
  const text = fields.toString()
  return `${path}${text && `?${text}`}`
}

/** Goes to an address of this page without a new entry in the history. */
export function replaceAddress(address) {
  history.replaceState(null, '', address)
  dispatchEvent(new Event('query')) // replaceState does not announce itself
}

/** Changes fields of the address’s query. Empty values are left out of the address. */
export function setQuery(changes) {
  replaceAddress(addressOf(location.hash.split('?')[0] || '#/', changes))
}

/**
 * A string in the address’s query, such as a filter, so that the address can be shared.
 * @returns {[value: string, setValue: (value: string) => void]}
 */
export function useQueryField(name, fallback = '') {
  const { query } = useHashRoute()
  const setValue = (value) => setQuery({ [name]: value === fallback ? '' : value })
  return [query.get(name) ?? fallback, setValue]
}

/** Keeps a segment with an incomplete escape as it is, so that the page still loads. */
function decodeSegment(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * The ref for an element and its width in pixels.
 * @returns {[{ current: any }, number]}
 */
export function useWidth() {
  const box = useRef(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)))
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return [box, width]
}

/** A number that changes with the color scheme, to redraw canvases. */
export function useColorScheme() {
  const [round, setRound] = useState(0)
  useEffect(() => {
    const media = matchMedia('(prefers-color-scheme: dark)')
    const turn = () => setRound((now) => now + 1)
    media.addEventListener('change', turn)
    addEventListener('scheme', turn)
    return () => {
      media.removeEventListener('change', turn)
      removeEventListener('scheme', turn)
    }
  }, [])
  return round
}

/** Whether the page has been painted since `isReady` became true, so that what comes next does not delay it. */
export function useAfterPaint(isReady) {
  const [painted, setPainted] = useState(false)
  useEffect(() => {
    if (!isReady) return undefined
    const timer = setTimeout(() => setPainted(true), PAINT_MS)
    return () => clearTimeout(timer)
  }, [isReady])
  return painted
}

/**
 * ← → or k j call `onPrevious` and `onNext`; with Shift, `onPreviousGroup` and `onNextGroup`. Keys in fields, and arrows
 * in texts that scroll sideways, keep their meaning.
 */
export function useArrowKeys(handlers) {
  const latest = useRef(handlers)
  latest.current = handlers
  useEffect(() => {
    const hear = (event) => {
      const { target, key, shiftKey, ctrlKey, metaKey, altKey } = event
      if (ctrlKey || metaKey || altKey || target.closest?.('input, select, textarea, dialog')) return
      const forward = { ArrowRight: true, j: true, J: true, ArrowLeft: false, k: false, K: false }[key]
      if (forward === undefined || (key.startsWith('Arrow') && scrollsSideways(target))) return
      const { onPrevious, onNext, onPreviousGroup, onNextGroup } = latest.current
      const act = shiftKey ? (forward ? onNextGroup : onPreviousGroup) : forward ? onNext : onPrevious
      if (!act) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [])
}

function scrollsSideways(element) {
  return element instanceof Element && element !== document.body && element.scrollWidth > element.clientWidth + 1
}
