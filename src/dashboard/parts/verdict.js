/** A verdict with its reason, in words. */
import { fixed } from '../format.js'
import { html } from '../html.js'
import { REASONS, VerdictChips } from './completion.js'

function reasonOf({ status, score, fault, code }) {
  const known = REASONS[fault ?? code]
  if (known) return known
  if (status === 'unscored') return 'There is no score, and no training signal.'
  if (score >= 0.99) return 'The answer is right.'
  return score > 0 ? 'The answer earns a part of the score.' : 'The answer is wrong.'
}

export function Verdict({ verdict }) {
  return html`<div class="verdict" role="status">
    <div>
      <strong>${verdict.status === 'scored' ? fixed(verdict.reward) : 'Unscored'}</strong>
      ${' '}<${VerdictChips} verdict=${verdict} />
    </div>
    <p>${reasonOf(verdict)}</p>
    ${
      verdict.answer !== null &&
      verdict.answer !== undefined &&
      html`<p class="soft">Read as the answer: <code>${verdict.answer === '' ? '(empty)' : verdict.answer}</code></p>`
    }
    ${verdict.detail && html`<p class="soft">${verdict.detail}</p>`}
  </div>`
}
