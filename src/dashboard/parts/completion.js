/** A completion with its verdict. The reasoning is collapsed and the answer is highlighted. */

import { parseSegments, parseTruncatedSegments } from '../completion-segments.js'
import { formatCount, formatDecimal, humanize } from '../format.js'
import { html } from '../html.js'
import { Chip } from './common.js'

/** Explanations of format faults and error codes. */
export const ERROR_EXPLANATIONS = {
  no_answer: 'There is no <answer> outside the reasoning.',
  many_answers: 'There is more than one <answer>, so it is unclear which one counts.',
  unclosed_answer: 'An <answer> tag is not closed.',
  unclosed_think: 'The <think> tag is not closed, so no answer after it counts.',
  answer_too_long: 'The answer exceeds the server’s length limit.',
  invalid_answer: 'The task’s scorer could not parse the answer.',
  scorer_timeout: 'The scorer exceeded its time limit. The rollout carries no training signal.',
  scorer_crashed: 'The scorer crashed. The rollout carries no training signal.',
  scorer_out_of_memory: 'The scorer ran out of memory. The rollout carries no training signal.',
  engine_unavailable: 'The engine was down. The rollout carries no training signal.',
  generation_failed: 'The model returned no completion. The rollout carries no training signal.',
}

function HighlightedAnswer({ text }) {
  const parts = text.trim().split(/(<answer>[\s\S]*?<\/answer>)/i)
  return parts.map((part, k) => (k % 2 === 1 ? html`<mark>${part}</mark>` : part))
}

export function Thinking({ text, open = false, cut = false }) {
  return html`<details class="thinking">
    <summary>Reasoning, ${cut ? 'shortened' : `${formatCount([...text].length)} characters${open ? ', not closed' : ''}`}</summary>
    <div class="text" tabindex="0">${text.trim()}</div>
  </details>`
}

/** `cut`: the text is shortened to its beginning and end. */
export function CompletionText({ text, reasoning, cut = false }) {
  const pieces = cut ? parseTruncatedSegments(text) : parseSegments(text)
  return html`
    ${reasoning && html`<${Thinking} text=${reasoning} />`}
    ${pieces.map((piece) =>
      piece.kind === 'thinking'
        ? html`<${Thinking} text=${piece.text} open=${piece.open} cut=${cut} />`
        : html`<div class="text" tabindex="0"><${HighlightedAnswer} text=${piece.text} /></div>`,
    )}
    ${pieces.length === 0 && html`<p class="soft">The completion is empty.</p>`}
  `
}

/** The text of a rollout: its completion, or the last assistant message. */
export function getRolloutText({ completion, messages }) {
  if (completion !== undefined && completion !== null) return { text: completion }
  const last = (messages ?? []).findLast(({ role }) => role === 'assistant') ?? {}
  const content = Array.isArray(last.content)
    ? last.content.map((part) => part.text ?? '').join('')
    : (last.content ?? '')
  return { text: content, reasoning: last.reasoning_content ?? last.reasoning }
}

export function VerdictChips({ verdict }) {
  const { status, fault, code, penalty, skipped, masked } = verdict
  return html`
    ${fault && html`<${Chip} tone="bad">${humanize(fault)}<//>`}
    ${status === 'unscored' && html`<${Chip} tone="warn">${humanize(code)}<//>`}
    ${skipped && html`<${Chip} tone="warn">${humanize(skipped)}<//>`}
    ${masked && html`<${Chip} tone="warn">masked<//>`}
    ${penalty > 0 && html`<${Chip} tone="warn">length penalty ${formatDecimal(penalty)}<//>`}
  `
}

export function Completion({ rollout, verdict, index }) {
  const { text, reasoning } = getRolloutText(rollout)
  const length = rollout.length_tokens ?? rollout.tokens?.length
  return html`<article class="completion" aria-label=${`Completion ${index + 1}`}>
    <header>
      <b>${verdict?.status === 'scored' ? formatDecimal(verdict.reward) : '–'}</b>
      ${verdict && html`<${VerdictChips} verdict=${verdict} />`}
      <span class="soft">
        ${[
          verdict?.advantage !== null &&
            verdict?.advantage !== undefined &&
            `advantage ${formatDecimal(verdict.advantage)}`,
          length !== undefined && length !== null && `${formatCount(length)} tokens`,
          rollout.finish_reason === 'length' && 'truncated',
        ]
          .filter(Boolean)
          .join(' · ')}
      </span>
    </header>
    <${CompletionText} text=${text} reasoning=${reasoning} cut=${rollout.cut} />
  </article>`
}
