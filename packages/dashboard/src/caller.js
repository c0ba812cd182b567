/** Who the caller is: the role and the runs of its API key, and the dialog that asks for one. Every component that asks shares one request. */
import { describeDenial, fetchJson, hasKey, onKeyEvent, setKey } from './api.js'
import { html, useEffect, useRef, useState } from './html.js'

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
 * `denial(need, run?)`: why the caller may not do what needs a role, or undefined if it may.
 */
export function useCaller() {
  const [caller, setCaller] = useState(known)
  useEffect(() => {
    const notify = () => setCaller(known)
    listeners.add(notify)
    notify() // effects run after the paint, and the caller may have become known since it was drawn
    loadCaller()
    return () => listeners.delete(notify)
  }, [])
  return { ...caller, denial: (need, run) => describeDenial(caller, need, run) }
}

/** Shows `children` if the caller may do what they offer, or else why not: `<${NeedsRole} role="evaluator" to="start an eval">`. */
export function NeedsRole({ role, run, to, children }) {
  const denial = useCaller().denial(role, run)
  if (denial === undefined) return children
  return html`<p class="soft denied">${to && `You cannot ${to} with this key. `}${denial}</p>`
}

/** Shows whose key this is, and asks for one when the server requires it. The key is stored for the session of this tab only. */
export function KeyDialog() {
  const dialog = useRef(null)
  const [known, setKnown] = useState(hasKey())
  const [wanted, setWanted] = useState(false)
  const caller = useCaller()
  useEffect(() => onKeyEvent('key', () => setKnown(hasKey())), [])
  useEffect(
    () =>
      onKeyEvent('required', () => {
        setWanted(true)
        if (!dialog.current.open) dialog.current.showModal()
      }),
    [],
  )
  const keep = (event) => {
    event.preventDefault()
    const field = event.target.elements.key
    dialog.current.close()
    setWanted(false)
    setKey(field.value.trim())
    field.value = ''
  }
  return html`
    ${caller.key && html`<${CallerBadge} role=${caller.role} runs=${caller.runs} hint=${caller.key} />`}
    ${
      (known || wanted) &&
      html`<button class="quiet" type="button" onClick=${() => (known ? setKey('') : dialog.current.showModal())}>
      ${known ? 'Delete the API key' : 'Enter an API key'}
    </button>`
    }
    <dialog ref=${dialog} aria-labelledby="key-title">
      <form onSubmit=${keep}>
        <h2 id="key-title">This server requires an API key</h2>
        <p class="soft">
          ${
            known
              ? 'The server rejected the API key of this session. Enter another one.'
              : 'The dashboard stores the key until you close this tab, and sends it to this server only.'
          }
        </p>
        <label>API key<input name="key" type="password" autocomplete="off" required /></label>
        <div class="row">
          <button class="main" type="submit">Save</button>
          <button type="button" onClick=${() => dialog.current.close()}>Cancel</button>
        </div>
      </form>
    </dialog>
  `
}

/** The role of the key and its runs. The end of the key is in the title. */
function CallerBadge({ role, runs, hint }) {
  const where = runs ? ` of ${runs.length > 2 ? `${runs.length} runs` : runs.join(', ')}` : ''
  const title = `Your API key (…${hint}) has the role ${role}${runs ? ` and is bound to ${runs.join(', ')}` : ''}`
  return html`<span class="chip caller" title=${title}><span class="unseen">You are </span>${role}${where}</span>`
}
