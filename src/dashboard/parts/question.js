/** The question of an item, made again from its id. */

import { useResource } from '../data-hooks.js'
import { html } from '../html.js'
import { ErrorMessage } from './common.js'

export function Question({ id }) {
  const { value: item, problem } = useResource(`items/${encodeURIComponent(id)}`)
  if (item) return html`<div class="text" tabindex="0" role="region" aria-label="Question">${item.question}</div>`
  if (problem) return html`<${ErrorMessage} problem=${problem} />`
  return html`<span class="soft">The question is being made again…</span>`
}
