/** The question of an item, which the server regenerates from its ID. */

import { useResource } from '../data-hooks.js'
import { html } from '../html.js'
import { ErrorMessage } from './common.js'

/** `{ question, problem }`; both are undefined while the question is regenerated. */
export function useQuestion(id) {
  const { value, problem } = useResource(id ? `items/${encodeURIComponent(id)}` : null)
  return { question: value?.question, problem }
}

export function QuestionText({ question, problem }) {
  if (question !== undefined)
    return html`<div class="text" tabindex="0" role="region" aria-label="Question">${question}</div>`
  if (problem) return html`<${ErrorMessage} problem=${problem} />`
  return html`<span class="soft">Regenerating the question…</span>`
}

export function Question({ id }) {
  return html`<${QuestionText} ...${useQuestion(id)} />`
}
