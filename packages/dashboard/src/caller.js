/** Who the caller is: the role and the runs of its API key. Every component that asks shares one request. */
import { fetchJson, onKeyEvent } from './api.js'
import { describeDenial } from './denial.js'
import { html, useEffect, useState } from './html.js'

/** @type {{ role: string, runs: string[] | null, key: string } | undefined} */
let known
/** Of the request under way. @type {symbol | undefined} */
let loading
const listeners = new Set()
const notifyAll = () => {
  for (const notify of listeners) notify()
}
onKeyEvent('key', () => {
  known = undefined
  loading = undefined
  loadCaller()
  notifyAll()
})

/** Does nothing while a request is under way. After a failed one, the next component that asks tries again. */
function loadCaller() {
  if (loading || known) return
  const mine = Symbol('request')
  loading = mine
  fetchJson('whoami')
    .then((caller) => {
      if (loading !== mine) return // the key changed meanwhile
      known = caller
      notifyAll()
    })
    .catch(() => {})
    .finally(() => {
      if (loading === mine) loading = undefined
    })
}

/**
 * `{ role, runs, key }` of the caller, undefined until it is known or while the server requires a key, with
 * `denial(need, run?)` of denial.js: why the caller may not do what needs a role, or undefined if it may.
 */
export function useCaller() {
  const [, redraw] = useState(0)
  useEffect(() => {
    const notify = () => redraw((round) => round + 1)
    listeners.add(notify)
    loadCaller()
    return () => listeners.delete(notify)
  }, [])
  return { ...known, denial: (need, run) => describeDenial(known, need, run) }
}

/** Shows `children` if the caller may do what they offer, or else why not: `<${NeedsRole} role="evaluator" to="start an eval">`. */
export function NeedsRole({ role, run, to, children }) {
  const denial = useCaller().denial(role, run)
  if (denial === undefined) return children
  return html`<p class="soft denied">${to && `You cannot ${to} with this key. `}${denial}</p>`
}
