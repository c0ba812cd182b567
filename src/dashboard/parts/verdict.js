/** A verdict with its reason, in words. */
import { formatDecimal } from '../format.js'
import { html } from '../html.js'
import { ERROR_EXPLANATIONS, VerdictChips } from './completion.js'

function explainVerdict({ status, score, fault, code }) {
  const known = ERROR_EXPLANATIONS[fault ?? code]
  if (known) return known
  if (status === 'unscored') return 'There is no score, and no training signal.'
  if (score >= 0.99) return 'The answer is right.'
  return score > 0 ? 'The answer earns a part of the score.' : 'The answer is wrong.'
}

export function Verdict({ verdict }) {
  return html`<div class="verdict" role="status">
    <div>
      <strong>${verdict.status === 'scored' ? formatDecimal(verdict.reward) : 'Unscored'}</strong>
      ${' '}<${VerdictChips} verdict=${verdict} />
    </div>
    <p>${explainVerdict(verdict)}</p>
    ${
      verdict.answer !== null &&
      verdict.answer !== undefined &&
      html`<p class="soft">Read as the answer: <code>${verdict.answer === '' ? '(empty)' : verdict.answer}</code></p>`
    }
    ${verdict.detail && html`<p class="soft">${verdict.detail}</p>`}
  </div>`
}
