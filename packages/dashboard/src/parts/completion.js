/** The text of a completion. The reasoning is folded, and the answer and found words are marked. */

import { parseSegments, parseTruncatedSegments, splitAnswers, splitMatches } from '../completion-segments.js'
import { formatCount, formatDecimal, humanize } from '../format.js'
import { html } from '../html.js'
import { Chip } from './common.js'

/** Whether the reader left the reasoning open. It holds for all completions, in this and later visits. */
const THINKING_KEY = 'rgs-thinking'

function Found({ text, q }) {
  return splitMatches(text, q).map((part, k) => (k % 2 === 1 ? html`<mark class="found">${part}</mark>` : part))
}

function HighlightedAnswer({ text, cut, q }) {
  return splitAnswers(text.trim(), cut).map((part, k) =>
    k % 2 === 1 ? html`<mark><${Found} text=${part} q=${q} /></mark>` : html`<${Found} text=${part} q=${q} />`,
  )
}

function Thinking({ text, open = false, cut = false, q }) {
  const isFound = splitMatches(text, q).length > 1
  const remember = ({ target }) => {
    if (!isFound) localStorage.setItem(THINKING_KEY, target.open ? 'open' : 'closed')
  }
  return html`<details class="thinking" open=${isFound || localStorage.getItem(THINKING_KEY) === 'open'} onToggle=${remember}>
    <summary>Reasoning, ${cut ? 'shortened' : `${formatCount([...text].length)} characters${open ? ', not closed' : ''}`}</summary>
    <div class="text" tabindex="0"><${Found} text=${text.trim()} q=${q} /></div>
  </details>`
}

/** `cut`: the text is shortened to its beginning and end. `q`: a text to mark. */
export function CompletionText({ text, reasoning, cut = false, q = '' }) {
  const pieces = cut ? parseTruncatedSegments(text) : parseSegments(text)
  return html`
    ${reasoning && html`<${Thinking} text=${reasoning} q=${q} />`}
    ${pieces.map((piece) =>
      piece.kind === 'thinking'
        ? html`<${Thinking} text=${piece.text} open=${piece.open} cut=${cut} q=${q} />`
        : html`<div class="text" tabindex="0" role="group" aria-label="Completion"><${HighlightedAnswer} text=${piece.text} cut=${cut} q=${q} /></div>`,
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
  const { status, fault, code, penalty, skipped, masked, finish_reason } = verdict
  return html`
    ${fault && html`<${Chip} tone="bad">${humanize(fault)}<//>`}
    ${status === 'unscored' && html`<${Chip} tone="warn">${humanize(code ?? 'unscored')}<//>`}
    ${skipped && html`<${Chip} tone="warn">${humanize(skipped)}<//>`}
    ${masked && html`<${Chip} tone="warn">masked<//>`}
    ${finish_reason === 'length' && html`<${Chip} tone="warn">truncated<//>`}
    ${penalty > 0 && html`<${Chip} tone="warn">length penalty ${formatDecimal(penalty)}<//>`}
  `
}
