/** From a completion to the answer in it. Every reading is one pass: repeated tags cost no more than text. */

import type { Extraction, FormatErrorCode } from '../contract/verdict.ts'
import { strip } from '../scorers/python/text.ts'

/** The answer, or the model's fault that there is none. */
export type ExtractionResult = { kind: 'answer'; answer: string } | { kind: 'fault'; fault: FormatErrorCode }

/** What is left of a completion once its thinking is gone. */
interface VisibleText {
  text: string
  /** A `<think>` that nothing closed was cut. */
  hasUnclosedThink: boolean
}

const THINK_TAG = 'think'
const ANSWER_TAG = 'answer'
const SLASH = '/'.charCodeAt(0)
const GREATER_THAN = '>'.charCodeAt(0)
/** Tells small letters of ASCII from capitals. */
const ASCII_CASE_BIT = 0x20

export function extractAnswer(completion: string, extraction: Extraction): ExtractionResult {
  if (extraction === 'bare') return { kind: 'answer', answer: completion }
  return extractFromVisible(stripThinking(completion), extraction)
}

/** The same for text whose thinking came apart. */
export function extractFromVisible(
  { text, hasUnclosedThink: cut }: VisibleText,
  extraction: Exclude<Extraction, 'bare'>,
): ExtractionResult {
  switch (extraction) {
    case 'strict':
      return extractStrict(text, cut)
    case 'last_tag':
      return extractLastTag(text, cut)
    case 'tag_or_boxed': {
      const reading = extractLastTag(text, cut)
      const boxed = reading.kind === 'fault' ? getLastBoxed(text) : undefined
      return boxed === undefined ? reading : { kind: 'answer', answer: strip(boxed) }
    }
  }
}

/** Drops `<think>…</think>` from the left, what stands before a `</think>` that nothing opened, and an open end. */
export function stripThinking(completion: string): VisibleText {
  let text = ''
  let kept = 0 // where the text that is not yet taken begins
  let open = false
  let opened = false
  forEachTag(completion, THINK_TAG, (start, end, closes) => {
    if (open && closes) {
      open = false
      kept = end
    } else if (!open && !closes) {
      text += completion.slice(kept, start)
      open = opened = true
    } else if (closes && !opened) {
      kept = end // the opening tag was in the prompt
    }
  })
  return { text: open ? text : text + completion.slice(kept), hasUnclosedThink: open }
}

function extractStrict(text: string, cut: boolean): ExtractionResult {
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
  if (openings === 0) return formatErrorResult(cut ? 'unclosed_think' : 'no_answer')
  if (openings > closings) return formatErrorResult('unclosed_answer')
  return openings === 1 && closings === 1 && from <= to
    ? answerResult(text.slice(from, to))
    : formatErrorResult('many_answers')
}

function extractLastTag(text: string, cut: boolean): ExtractionResult {
  let opening = -1 // where the nearest answer begins
  let from = -1
  let to = -1
  forEachTag(text, ANSWER_TAG, (start, end, closes) => {
    if (!closes) opening = end
    else [from, to] = [opening, start]
  })
  if (from >= 0) return answerResult(text.slice(from, to))
  if (opening >= 0) return formatErrorResult('unclosed_answer')
  return formatErrorResult(cut ? 'unclosed_think' : 'no_answer')
}

/**
 * Calls back for each tag in turn, without making an object of it: a megabyte may hold 125,000. A search for `<` passes
 * over text ten times as fast as a pattern does.
 */
function forEachTag(text: string, name: string, onTag: (start: number, end: number, closes: boolean) => void): void {
  for (let start = text.indexOf('<'); start >= 0; start = text.indexOf('<', start + 1)) {
    const closes = text.charCodeAt(start + 1) === SLASH
    const from = start + (closes ? 2 : 1)
    if (isTagNamed(text, from, name)) onTag(start, from + name.length + 1, closes)
  }
}

/** Whether a tag's name, in any letter case, and its end stand at a place. */
function isTagNamed(text: string, from: number, name: string): boolean {
  if (text.charCodeAt(from + name.length) !== GREATER_THAN) return false
  for (let k = 0; k < name.length; k++)
    if ((text.charCodeAt(from + k) | ASCII_CASE_BIT) !== name.charCodeAt(k)) return false
  return true
}

/** The content of the `\boxed{…}` that begins last of those whose braces close. */
function getLastBoxed(text: string): string | undefined {
  const open: { start: number; boxed: boolean }[] = []
  let best: { start: number; end: number } | undefined
  for (const { index, 0: token } of text.matchAll(/\\boxed\{|\\[{}\\]|[{}]/g)) {
    if (token === '\\boxed{' || token === '{') {
      open.push({ start: index + token.length, boxed: token !== '{' })
    } else if (token === '}') {
      const group = open.pop()
      if (group?.boxed && group.start > (best?.start ?? -1)) best = { start: group.start, end: index }
    }
  }
  return best && text.slice(best.start, best.end)
}

function answerResult(text: string): ExtractionResult {
  return { kind: 'answer', answer: strip(text) }
}

function formatErrorResult(kind: FormatErrorCode): ExtractionResult {
  return { kind: 'fault', fault: kind }
}
