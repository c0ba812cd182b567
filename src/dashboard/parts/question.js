/** The question of an item, made again from its id. */
import { html } from '../html.js'
import { useLoad } from '../loading.js'
import { Trouble } from './bits.js'

export function Question({ id }) {
  const { value: item, problem } = useLoad(`items/${encodeURIComponent(id)}`)
  if (item) return html`<div class="text" tabindex="0" role="region" aria-label="Question">${item.question}</div>`
  if (problem) return html`<${Trouble} problem=${problem} />`
  return html`<span class="soft">The question is being made again…</span>`
}
