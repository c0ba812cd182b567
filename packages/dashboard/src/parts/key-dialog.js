/** Shows whose key this is, and asks for one when the server requires it. The key is stored for the session of this tab only. */
import { hasKey, onKeyEvent, setKey } from '../api.js'
import { useCaller } from '../caller.js'
import { html, useEffect, useRef, useState } from '../html.js'

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
  return html`<span class="caller" title=${title}><span class="unseen">You are </span>${role}${where}</span>`
}
