/** Extracts the answer from a completion or a conversation. Each method is a single pass, so repeated tags cost no more than plain text. */
import type { Message } from '@reasoning-gym-server/contract/rollout'
import type { Extraction, FormatFault } from '@reasoning-gym-server/contract/verdict'
import { strip } from '@reasoning-gym-server/scorers/python/text'

/** The answer, or the format fault that explains why the completion has none. */
export type ExtractionResult = { kind: 'answer'; answer: string } | { kind: 'fault'; fault: FormatFault }

/** A completion without its reasoning. */
interface VisibleText {
  text: string
  /** The completion ended inside a `<think>` block, which was removed. */
  hasUnclosedThink: boolean
}

const THINK_TAG = 'think'
const ANSWER_TAG = 'answer'
const SLASH = '/'.charCodeAt(0)
const GREATER_THAN = '>'.charCodeAt(0)
/** The bit that distinguishes lowercase from uppercase ASCII letters. */
const ASCII_CASE_BIT = 0x20

/** How answers are extracted. `stop` and `opens_thinking` say what the client's prompt and sampling left out of the text. */
export interface ExtractionRules {
  extraction: Extraction
  /** Stop string that the inference server cut off the end of a completion. */
  stop?: '</answer>' | null | undefined
  /** Whether the prompt ends with `<think>`, so that a completion begins inside of its thinking. */
  opens_thinking?: boolean | undefined
}

export function extractAnswer(completion: string, rules: ExtractionRules): ExtractionResult {
  if (rules.extraction === 'bare') return { kind: 'answer', answer: completion }
  const { text, hasUnclosedThink } = stripThinking(rules.opens_thinking ? `<think>${completion}` : completion)
  return extractFromVisible(text, rules, hasUnclosedThink)
}

/** Extracts the answer from text that no longer contains reasoning. */
export function extractFromVisible(
  visible: string,
  { extraction, stop }: ExtractionRules,
  hasUnclosedThink = false,
): ExtractionResult {
  const text = stop && !hasUnclosedThink && isAnswerOpen(visible) ? visible + stop : visible
  switch (extraction) {
    case 'bare':
      return { kind: 'answer', answer: visible }
    case 'strict':
      return extractStrict(text, hasUnclosedThink)
    case 'last_tag':
      return extractLastTag(text, hasUnclosedThink)
    case 'tag_or_boxed': {
      const tagged = extractLastTag(text, hasUnclosedThink)
      const boxed = tagged.kind === 'fault' ? getLastBoxed(text) : undefined
      return boxed === undefined ? tagged : { kind: 'answer', answer: strip(boxed) }
    }
  }
}

/** Whether the text ends inside of an answer. */
function isAnswerOpen(text: string): boolean {
  let isOpen = false
  forEachTag(text, ANSWER_TAG, (_start, _end, closes) => {
    isOpen = !closes
  })
  return isOpen
}

/**
 * Removes every `<think>…</think>` block, the text before an unmatched `</think>`, and the text after an unclosed `<think>`.
 */
export function stripThinking(completion: string): VisibleText {
  let text = ''
  let visibleFrom = 0 // start of the text that is not copied yet
  let open = false
  let opened = false
  forEachTag(completion, THINK_TAG, (start, end, closes) => {
    if (open && closes) {
      open = false
      visibleFrom = end
    } else if (!open && !closes) {
      text += completion.slice(visibleFrom, start)
      open = opened = true
    } else if (closes && !opened) {
      visibleFrom = end // the opening tag was in the prompt
    }
  })
  return { text: open ? text : text + completion.slice(visibleFrom), hasUnclosedThink: open }
}

function extractStrict(text: string, hasUnclosedThink: boolean): ExtractionResult {
  let openings = 0
  let closings = 0
  let from = 0
  let to = 0
  forEachTag(text, ANSWER_TAG, (start, end, closes) => {
    if (closes) {
      closings++
      to = start
    } else {
      openings++
      from = end
    }
  })
  if (openings === 0) return formatFaultResult(hasUnclosedThink ? 'unclosed_think' : 'no_answer')
  if (openings > closings) return formatFaultResult('unclosed_answer')
  return openings === 1 && closings === 1 && from <= to
    ? answerResult(text.slice(from, to))
    : formatFaultResult('many_answers')
}

/** How often a completion opens and closes an answer outside its thinking. */
export function countAnswerTags(completion: string): { openings: number; closings: number } {
  const counts = { openings: 0, closings: 0 }
  forEachTag(stripThinking(completion).text, ANSWER_TAG, (_start, _end, closes) => {
    if (closes) counts.closings++
    else counts.openings++
  })
  return counts
}

function extractLastTag(text: string, hasUnclosedThink: boolean): ExtractionResult {
  let opening = -1 // start of the content after the last opening tag
  let from = -1
  let to = -1
  forEachTag(text, ANSWER_TAG, (start, end, closes) => {
    if (!closes) opening = end
    else if (opening >= 0) [from, to, opening] = [opening, start, -1] // a second closing tag closes nothing
  })
  if (from >= 0) return answerResult(text.slice(from, to))
  if (opening >= 0) return formatFaultResult('unclosed_answer')
  return formatFaultResult(hasUnclosedThink ? 'unclosed_think' : 'no_answer')
}

/**
 * Calls `onTag` for each tag in order and allocates no objects: one megabyte can hold 125,000 tags. Searching for `<` is
 * ten times as fast as matching a regular expression.
 */
function forEachTag(text: string, name: string, onTag: (start: number, end: number, closes: boolean) => void): void {
  for (let start = text.indexOf('<'); start >= 0; start = text.indexOf('<', start + 1)) {
    const closes = text.charCodeAt(start + 1) === SLASH
    const from = start + (closes ? 2 : 1)
    if (isTagNamed(text, from, name)) onTag(start, from + name.length + 1, closes)
  }
}

/** Whether the tag name, in any letter case, and the closing `>` are at position `from`. */
function isTagNamed(text: string, from: number, name: string): boolean {
  if (text.charCodeAt(from + name.length) !== GREATER_THAN) return false
  for (let k = 0; k < name.length; k++)
    if ((text.charCodeAt(from + k) | ASCII_CASE_BIT) !== name.charCodeAt(k)) return false
  return true
}

/** The content of the last `\boxed{…}` whose braces are balanced, by its start position. */
function getLastBoxed(text: string): string | undefined {
  const openBraces: { start: number; boxed: boolean }[] = []
  let last: { start: number; end: number } | undefined
  for (const { index, 0: token } of text.matchAll(/\\boxed\{|\\[{}\\]|[{}]/g)) {
    if (token === '\\boxed{' || token === '{') {
      openBraces.push({ start: index + token.length, boxed: token !== '{' })
    } else if (token === '}') {
      const group = openBraces.pop()
      if (group?.boxed && group.start > (last?.start ?? -1)) last = { start: group.start, end: index }
    }
  }
  return last && text.slice(last.start, last.end)
}

function answerResult(text: string): ExtractionResult {
  return { kind: 'answer', answer: strip(text) }
}

function formatFaultResult(code: FormatFault): ExtractionResult {
  return { kind: 'fault', fault: code }
}

const TEXT_PART_TYPES = new Set(['text', 'output_text', 'input_text'])
const REASONING_PART_TYPES = new Set(['reasoning', 'reasoning_text', 'thinking'])

/**
 * The text of the final message, which is the last assistant message without tool calls, and whether the message carries its reasoning separately (then the text contains none).
 * Undefined if the conversation has no such message.
 */
export function getFinalText(messages: Message[]): { text: string; hasSeparateReasoning: boolean } | undefined {
  const last = findFinalMessage(messages)
  return last && { text: joinTextParts(last.content), hasSeparateReasoning: carriesReasoning(last) }
}

/** The reasoning that the final message carries separately, or undefined if there is none. */
export function getFinalReasoning(messages: Message[]): string | undefined {
  const last = findFinalMessage(messages)
  if (!last) return undefined
  const parts = listReasoningParts(last)
  return getReasoningField(last) ?? (parts.map((part) => toText(part.text ?? part[part.type])).join('') || undefined)
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Whether the final message has content of which no part is known. Taken for an empty text, it would be scored. */
export function hasUnreadContent(messages: Message[]): boolean {
  const content = findFinalMessage(messages)?.content
  if (!Array.isArray(content) || content.length === 0) return false
  return content.every(
    ({ type }) => !TEXT_PART_TYPES.has(type) && !REASONING_PART_TYPES.has(type) && type !== 'refusal',
  )
}

function findFinalMessage(messages: Message[]): Message | undefined {
  return messages.findLast(({ role, tool_calls }) => {
    const hasToolCalls = Array.isArray(tool_calls) && tool_calls.length > 0
    return role === 'assistant' && !hasToolCalls
  })
}

function carriesReasoning(message: Message): boolean {
  return getReasoningField(message) !== undefined || listReasoningParts(message).length > 0
}

function getReasoningField({ reasoning_content, reasoning }: Message): string | undefined {
  return [reasoning_content, reasoning].find((text) => typeof text === 'string' && text !== '') as string | undefined // as it was found
}

function listReasoningParts({ content }: Message) {
  return Array.isArray(content) ? content.filter(({ type }) => REASONING_PART_TYPES.has(type)) : []
}

function joinTextParts(content: Message['content']): string {
  if (typeof content === 'string') return content
  return (content ?? [])
    .map(({ type, text }) => (TEXT_PART_TYPES.has(type) && typeof text === 'string' ? text : ''))
    .join('')
}
