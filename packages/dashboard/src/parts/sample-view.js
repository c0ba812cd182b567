/** One completion to read: its score and why, its answer beside the expected one, and its text. */
import { classifyVerdict, explainVerdict } from '../explain-verdict.js'
import { formatCount, formatDecimal } from '../format.js'
import { html } from '../html.js'
import { AnswerView } from './answer-view.js'
import { CompletionText, getRolloutText, VerdictChips } from './completion.js'
import { VerdictSign } from './verdict.js'

/**
 * `sample`: a verdict with `task`, `completion` or `messages`, `reasoning`, `length_tokens`, `finish_reason` and, if it is
 * known, `expected`. `question`: of the item. `q`: a text to mark. `children`: buttons in the header.
 */
export function SampleView({ sample, label, question, q, children }) {
  const { task, status, score, reward, advantage, length_tokens, answer, expected } = sample
  const { text, reasoning } = getRolloutText(sample)
  const facts = [
    reward !== undefined && reward !== score && `score ${formatDecimal(score)}`,
    advantage !== null && advantage !== undefined && `advantage ${formatDecimal(advantage)}`,
    length_tokens !== null && length_tokens !== undefined && `${formatCount(length_tokens)} tokens`,
  ].filter(Boolean)
  return html`<article class="sample" aria-label=${label}>
    <header>
      <${VerdictSign} verdict=${sample} spelled />
      <b>${status === 'scored' ? formatDecimal(reward ?? score) : '–'}</b>
      <${VerdictChips} verdict=${sample} />
      <span class="soft">${facts.join(' · ')}</span>
      <span class="end">${children}</span>
    </header>
    <p class="why">${explainVerdict(sample)}</p>
    ${status === 'scored' && html`<${AnswerView} task=${task} answer=${answer} expected=${expected} question=${question} kind=${classifyVerdict(sample)} />`}
    ${status !== 'missing' && html`<div class="completion"><h4>Completion</h4><${CompletionText} text=${text} reasoning=${sample.reasoning ?? reasoning} q=${q} /></div>`}
  </article>`
}
