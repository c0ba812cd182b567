/** Moves between the entries of a list: addresses that keep the filters, and arrow keys. */
import { useEffect, useRef } from './html.js'

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
