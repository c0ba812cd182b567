/** A completion as it came: thinking folded, the answer marked, with its verdict. */

import { parseSegments, parseTruncatedSegments } from '../completion-segments.js'
import { formatCount, formatDecimal, humanize } from '../format.js'
import { html } from '../html.js'
import { Chip } from './common.js'

/** What a fault or a code means, for people. */
export const ERROR_EXPLANATIONS = {
  no_answer: 'No <answer> was found outside the thinking.',
  many_answers: 'More than one <answer>: it is not clear which one counts.',
  unclosed_answer: 'An <answer> was opened and not closed.',
  unclosed_think: 'The thinking was opened and not closed, so nothing after it counts.',
  answer_too_long: 'The answer is longer than the server reads.',
  invalid_answer: 'The task’s scorer could not read the answer.',
  scorer_timeout: 'The scorer took too long; this is not the model’s fault, and the rollout carries no signal.',
  scorer_crashed: 'The scorer crashed; this is not the model’s fault, and the rollout carries no signal.',
  scorer_out_of_memory: 'The scorer ran out of memory; the rollout carries no signal.',
  engine_unavailable: 'The engine was down; the rollout carries no signal.',
  generation_failed: 'No completion came; the rollout carries no signal.',
}

function HighlightedAnswer({ text }) {
  const parts = text.trim().split(/(<answer>[\s\S]*?<\/answer>)/i)
  return parts.map((part, k) => (k % 2 === 1 ? html`<mark>${part}</mark>` : part))
}

export function Thinking({ text, open = false, cut = false }) {
  return html`<details class="thinking">
    <summary>Thinking, ${cut ? 'shortened' : `${formatCount([...text].length)} characters${open ? ', not closed' : ''}`}</summary>
    <div class="text" tabindex="0">${text.trim()}</div>
  </details>`
}

/** `cut`: the text is the beginning and the end of a longer one. */
export function CompletionText({ text, reasoning, cut = false }) {
  const pieces = cut ? parseTruncatedSegments(text) : parseSegments(text)
  return html`
    ${reasoning && html`<${Thinking} text=${reasoning} />`}
    ${pieces.map((piece) =>
      piece.kind === 'thinking'
        ? html`<${Thinking} text=${piece.text} open=${piece.open} cut=${cut} />`
        : html`<div class="text" tabindex="0"><${HighlightedAnswer} text=${piece.text} /></div>`,
    )}
    ${pieces.length === 0 && html`<p class="soft">An empty completion.</p>`}
  `
}

/** The text of a rollout: its completion, or the last message that the model wrote. */
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
          rollout.finish_reason === 'length' && 'cut',
        ]
          .filter(Boolean)
          .join(' · ')}
      </span>
    </header>
    <${CompletionText} text=${text} reasoning=${reasoning} cut=${rollout.cut} />
  </article>`
}
