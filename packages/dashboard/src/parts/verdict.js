/** A verdict with an explanation. */
import { classifyVerdict, explainVerdict } from '../explain-verdict.js'
import { formatDecimal } from '../format.js'
import { html } from '../html.js'
import { VerdictChips } from './completion.js'

const SIGNS = {
  right: ['✓', 'right'],
  partial: ['◐', 'partly right'],
  wrong: ['✗', 'wrong'],
  unscored: ['–', 'not scored'],
  missing: ['–', 'missing'],
}

/** Right or wrong at a glance: a sign, a color and, for screen readers or with `spelled`, a word. */
export function VerdictSign({ verdict, spelled = false }) {
  const kind = classifyVerdict(verdict)
  const [sign, word] = SIGNS[kind]
  return html`<span class=${`sign ${kind}`}><span aria-hidden="true">${sign}</span><span class=${spelled ? null : 'unseen'}>${' '}${word}</span></span>`
}

export function Verdict({ verdict, task }) {
  return html`<div class="verdict" role="status">
    <div>
      <${VerdictSign} verdict=${verdict} spelled />
      ${' '}<strong>${verdict.status === 'scored' ? formatDecimal(verdict.reward) : 'Unscored'}</strong>
      ${' '}<${VerdictChips} verdict=${verdict} />
    </div>
    <p>${explainVerdict({ ...verdict, task })}</p>
    ${
      verdict.answer !== null &&
      verdict.answer !== undefined &&
      html`<p class="soft">Extracted answer</p><div class="text" tabindex="0" role="region" aria-label="Extracted answer">${verdict.answer === '' ? '(empty)' : verdict.answer}</div>`
    }
  </div>`
}
