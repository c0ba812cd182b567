/** One completion to read: its verdict and why, its answer beside the expected one, and its text with folded reasoning and marks. */

import { parseSegments, parseTruncatedSegments, splitAnswers, splitMatches } from '../completion-segments.js'
import { useResource } from '../data-hooks.js'
import { classifyVerdict, explainVerdict } from '../explain-verdict.js'
import { formatCount, formatDecimal, humanize } from '../format.js'
import { html } from '../html.js'
import { AnswerView } from './answer-view.js'
import { Chip, ErrorMessage } from './common.js'

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
function CompletionText({ text, reasoning, cut = false, q = '' }) {
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
function getRolloutText({ completion, messages }) {
  if (completion !== undefined && completion !== null) return { text: completion }
  const last = (messages ?? []).findLast(({ role }) => role === 'assistant') ?? {}
  const content = Array.isArray(last.content)
    ? last.content.map((part) => part.text ?? '').join('')
    : (last.content ?? '')
  return { text: content, reasoning: last.reasoning_content ?? last.reasoning }
}

export function VerdictChips({ verdict }) {
  const { status, fault, code, components, skipped, masked, finish_reason } = verdict
  return html`
    ${fault && html`<${Chip} tone="bad">${humanize(fault)}<//>`}
    ${status === 'unscored' && html`<${Chip} tone="warn">${humanize(code ?? 'unscored')}<//>`}
    ${skipped && html`<${Chip} tone="warn">${humanize(skipped)}<//>`}
    ${masked && html`<${Chip} tone="warn">masked<//>`}
    ${finish_reason === 'length' && html`<${Chip} tone="warn">truncated<//>`}
    ${components?.length_penalty < 0 && html`<${Chip} tone="warn">length penalty ${formatDecimal(-components.length_penalty)}<//>`}
  `
}

const SIGNS = {
  right: ['✓', 'right'],
  paid: ['!', 'paid, not right'],
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

/**
 * `{ question, propensity, problem }`; all are undefined while the question is regenerated. `run`: one that may have drawn
 * the item.
 */
export function useQuestion(id, run) {
  const query = run ? `?run=${encodeURIComponent(run)}` : ''
  const { value, problem } = useResource(id ? `items/${encodeURIComponent(id)}${query}` : null)
  return { question: value?.question, propensity: value?.propensity, problem }
}

export function QuestionText({ question, problem }) {
  if (question !== undefined)
    return html`<div class="text" tabindex="0" role="region" aria-label="Question">${question}</div>`
  if (problem) return html`<${ErrorMessage} problem=${problem} />`
  return html`<span class="soft">Regenerating the question…</span>`
}

/**
 * `sample`: a verdict with `task`, `completion` or `messages` if there is one, `reasoning`, `length_tokens`, `finish_reason` and, if it is
 * known, `expected`. `question`: of the item. `q`: a text to mark.
 */
export function SampleView({ sample, label, question, q }) {
  const { task, status, score, hardened, reward, advantage, length_tokens, answer, expected } = sample
  const { text, reasoning } = getRolloutText(sample)
  const hasText = (sample.completion ?? sample.messages ?? null) !== null
  const facts = [
    reward !== undefined && reward !== score && `score ${formatDecimal(score)}`,
    hardened !== undefined && `hardened scoring ${formatDecimal(hardened)}`,
    advantage !== null && advantage !== undefined && `advantage ${formatDecimal(advantage)}`,
    length_tokens !== null && length_tokens !== undefined && `${formatCount(length_tokens)} tokens`,
  ].filter(Boolean)
  return html`<article class="sample" aria-label=${label}>
    <header>
      <${VerdictSign} verdict=${sample} spelled />
      <b>${status === 'scored' ? formatDecimal(reward ?? score) : '–'}</b>
      <${VerdictChips} verdict=${sample} />
      <span class="soft">${facts.join(' · ')}</span>
    </header>
    <p class="why">${explainVerdict(sample)}</p>
    ${status === 'scored' && html`<${AnswerView} task=${task} answer=${answer} expected=${expected} question=${question} kind=${classifyVerdict(sample)} />`}
    ${hasText && html`<div class="completion"><h3>Completion</h3><${CompletionText} text=${text} reasoning=${sample.reasoning ?? reasoning} q=${q} /></div>`}
  </article>`
}
