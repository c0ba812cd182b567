/** A verdict with an explanation. */
import { formatDecimal } from '../format.js'
import { html } from '../html.js'
import { ERROR_EXPLANATIONS, VerdictChips } from './completion.js'

function explainVerdict({ status, score, fault, code }) {
  const known = ERROR_EXPLANATIONS[fault ?? code]
  if (known) return known
  if (status === 'unscored') return 'The server could not score this completion. It carries no training signal.'
  if (score >= 0.99) return 'The answer is correct.'
  return score > 0 ? 'The answer is partly correct.' : 'The answer is wrong.'
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
      html`<p class="soft">Extracted answer: <code>${verdict.answer === '' ? '(empty)' : verdict.answer}</code></p>`
    }
    ${verdict.detail && html`<p class="soft">${verdict.detail}</p>`}
  </div>`
}
