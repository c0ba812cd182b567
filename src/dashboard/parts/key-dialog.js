/** Asks for a key when the server wants one; it is kept for this tab's session and no longer. */
import { hasKey, onKeyEvent, setKey } from '../api.js'
import { html, useEffect, useRef, useState } from '../html.js'

export function KeyDialog() {
  const dialog = useRef(null)
  const [known, setKnown] = useState(hasKey())
  const [wanted, setWanted] = useState(false)
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
    ${
      (known || wanted) &&
      html`<button class="quiet" type="button" onClick=${() => (known ? setKey('') : dialog.current.showModal())}>
      ${known ? 'Forget the key' : 'Enter a key'}
    </button>`
    }
    <dialog ref=${dialog} aria-labelledby="key-title">
      <form onSubmit=${keep}>
        <h2 id="key-title">This server asks for a key</h2>
        <p class="soft">
          ${
            known
              ? 'The key of this session was refused. Enter another.'
              : 'It is kept for this session of this tab, and sent to this server alone.'
          }
        </p>
        <label>Key<input name="key" type="password" autocomplete="off" required /></label>
        <div class="row">
          <button class="main" type="submit">Use it</button>
          <button type="button" onClick=${() => dialog.current.close()}>Not now</button>
        </div>
      </form>
    </dialog>
  `
}
