/** The question of an item, which the server regenerates from its ID. */

import { useResource } from '../data-hooks.js'
import { html } from '../html.js'
import { ErrorMessage } from './common.js'

export function Question({ id }) {
  const { value: item, problem } = useResource(`items/${encodeURIComponent(id)}`)
  if (item) return html`<div class="text" tabindex="0" role="region" aria-label="Question">${item.question}</div>`
  if (problem) return html`<${ErrorMessage} problem=${problem} />`
  return html`<span class="soft">Regenerating the question…</span>`
}
