/** A button that copies a text, and a command with such a button. */
import { html, useEffect, useRef, useState } from '../html.js'

const NOTICE_MS = 2000

/** `what`: names the text for screen readers, such as “the name of the task”. */
export function CopyButton({ text, what, children = 'Copy' }) {
  const [said, setSaid] = useState('')
  const timer = useRef()
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async () => {
    setSaid((await copyText(text)) ? 'Copied' : 'Press Ctrl+C')
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setSaid(''), NOTICE_MS)
  }
  return html`<button type="button" class="quiet copy" onClick=${copy}>
    ${said || children}${what && html`<span class="unseen"> ${what}</span>`}
    <span class="unseen" role="status">${said}</span>
  </button>`
}

/** A command in one line that scrolls if it is long, with a button that copies it. */
export function Command({ text }) {
  return html`<div class="command"><code tabindex="0">${text}</code><${CopyButton} text=${text} what="the command" /></div>`
}

/** The address of this server, as commands need it: with the path of a proxy in front of it, if there is one. */
export function getServerUrl() {
  return new URL('.', location.origin + location.pathname).href.replace(/\/$/, '')
}

/** Browsers offer the clipboard to secure origins only; elsewhere a selected field is copied the old way. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.setAttribute('readonly', '')
    field.className = 'unseen'
    const parent = document.querySelector('dialog[open]') ?? document.body // what is outside an open dialog cannot be selected
    parent.append(field)
    field.select()
    const done = document.execCommand('copy')
    field.remove()
    return done
  }
}
